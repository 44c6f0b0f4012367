;;; pi-daemon-errors.el --- What went wrong, and what to do  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Errors of the daemon in words.  They are plists with `:reason', `:message' and perhaps `:data'.

;;; Code:

(require 'subr-x)
(require 'pi-daemon-text)

(defun pi-daemon-errors-of (error)
  "The daemon's ERROR with its `:reason' beside the message."
  (list :reason (or (plist-get (plist-get error :data) :reason) "unknown")
        :message (plist-get error :message)
        :data (plist-get error :data)))

(defconst pi-daemon-errors--advice
  '(("sessionNotFound" . "M-x pi-daemon chooses another session")
    ("sessionCorrupted" . "C-u M-x pi-daemon opens it without the broken lines; `pi-daemon check FILE' names them")
    ("entryNotFound" . "g reads the tree anew")
    ("leafMoved" . "the tree shows where it is")
    ("writerBusy" . "M-x pi-daemon-request-writer asks for it")
    ("busy" . "try again when that is done; k stops what was started here")
    ("methodNotFound" . "this daemon is too old for that: update pi-daemon")
    ("versionMismatch" . "update pi-daemon or this package")
    ("connectionLost" . "whether it was done is unknown: look at the tree")
    ("shuttingDown" . "look whether it was done, and try again"))
  "What to do about an error, by its reason.
The daemon's own message often says it already.")

(defun pi-daemon-error-text (error)
  "ERROR, a plist, in words."
  (let ((said (pi-daemon-text-line (plist-get error :message)))
        (advice (cdr (assoc (plist-get error :reason) pi-daemon-errors--advice))))
    (if advice (format "%s (%s)" (string-trim-right said "[.]") advice) said)))

(defun pi-daemon-complain (error)
  "Show ERROR, a plist, in the echo area."
  (unless (equal (plist-get error :reason) "cancelled")
    (message "%s" (propertize (concat "pi-daemon: " (pi-daemon-error-text error)) 'face 'error))))

(provide 'pi-daemon-errors)

;;; pi-daemon-errors.el ends here
