;;; pi-daemon-header.el --- The header line of a tree  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a session is called, how full its context is, and what is the matter with it or with the connection.

;;; Code:

(require 'subr-x)
(require 'pi-daemon-follow)
(require 'pi-daemon-text)

(defun pi-daemon-header-draw ()
  "Set the header line: the session's name, its figures, what is the matter."
  (setq header-line-format
        (string-replace "%" "%%" (string-join (delq nil (pi-daemon-header--parts)) "  ")))
  (force-mode-line-update))

(defun pi-daemon-header--parts ()
  "The parts of the header line, some of which may be nil."
  (let ((name (plist-get pi-daemon-session-state :name))
        (tokens (plist-get pi-daemon-stats :contextTokens))
        (window (plist-get pi-daemon-stats :contextWindow))
        (share (plist-get pi-daemon-stats :contextShare)))
    (list
     (propertize (if (or (null name) (equal name "")) "unnamed session" (pi-daemon-text-line name 60)) 'face 'bold)
     (and tokens (concat (pi-daemon-text-number tokens) " tokens"
                         (and window (format " of %s" (pi-daemon-text-number window)))
                         (and share (format " (%d%%)" (round (* 100 share))))))
     (and pi-daemon-due (propertize "compaction due: c" 'face 'warning))
     (and pi-daemon-compacting (propertize "compacting..." 'face 'warning))
     (unless (equal pi-daemon-filter "default") (format "[%s]" pi-daemon-filter))
     (let ((read-only (plist-get pi-daemon-session-state :readOnly)))
       (and (stringp read-only) (propertize (format "read-only: %s" (pi-daemon-text-line read-only 60)) 'face 'warning)))
     (and pi-daemon-trouble (propertize pi-daemon-trouble 'face 'error))
     (cond (pi-daemon-gone (propertize (format "%s; this is what it was" pi-daemon-gone) 'face 'error))
           ((eq pi-daemon-state 'lost) (propertize "connection lost, trying again" 'face 'error))
           ((eq pi-daemon-state 'connecting) (propertize "connecting..." 'face 'warning))
           ((memq pi-daemon-state '(closed failed)) (propertize "not connected: g connects" 'face 'error))))))

(provide 'pi-daemon-header)

;;; pi-daemon-header.el ends here
