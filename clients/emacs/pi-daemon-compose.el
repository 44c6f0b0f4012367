;;; pi-daemon-compose.el --- A user's message, edited anew  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The buffer in which the text of a message is edited that the leaf was moved before.

;;; Code:

(require 'subr-x)
(require 'pi-daemon-client)
(require 'pi-daemon-text)

(defvar-local pi-daemon-compose--session nil "The id of the session that the text is for.")
(defvar-local pi-daemon-compose--leaf nil "Its leaf when the text was taken.")
(defvar-local pi-daemon-compose--branch nil "Whether others went on from there, and the user knows.")

(defvar pi-daemon-compose-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'pi-daemon-compose-append)
    (define-key map (kbd "C-c C-k") #'pi-daemon-compose-leave)
    map)
  "Keys of `pi-daemon-compose-mode'.")

(define-derived-mode pi-daemon-compose-mode text-mode "pi message"
  "A user's message that is edited anew.
\\<pi-daemon-compose-mode-map>\\[pi-daemon-compose-append] appends it to the session.
\\[pi-daemon-compose-leave] leaves it.
\\{pi-daemon-compose-mode-map}"
  (setq header-line-format "C-c C-c appends the message to the session, C-c C-k leaves it"))

(defun pi-daemon-compose (session leaf text)
  "Edit TEXT, a message for SESSION at its LEAF."
  (let ((buffer (generate-new-buffer "*pi message*")))
    (pop-to-buffer buffer)
    (pi-daemon-compose-mode)
    (insert (pi-daemon-text-block text))
    (setq pi-daemon-compose--session session
          pi-daemon-compose--leaf leaf)
    (message "The leaf is before the message now; its text is here and in the kill ring")))

(defun pi-daemon-compose-append ()
  "Append this buffer's text to the session, as a user's message."
  (interactive)
  (let ((text (buffer-substring-no-properties (point-min) (point-max))))
    (when (string-blank-p text)
      (user-error "There is nothing to append: type the message, or C-c C-k"))
    (pi-daemon-request
     "session/append"
     (list :sessionId pi-daemon-compose--session
           (if pi-daemon-compose--branch :parentId :expectedLeafId) pi-daemon-compose--leaf
           :entries (vector (list :type "message"
                                  :message (list :role "user" :content text
                                                 :timestamp (floor (* 1000 (float-time)))))))
     (lambda (_)
       (set-buffer-modified-p nil)
       (quit-windows-on (current-buffer) t)
       (message "Appended"))
     :else #'pi-daemon-compose--refused)))

(defun pi-daemon-compose--refused (error)
  "ERROR has kept the message from being appended.
Where others have gone on meanwhile the next time makes a branch."
  (if (not (equal (plist-get error :reason) "leafMoved"))
      (pi-daemon-complain error)
    (setq pi-daemon-compose--branch t
          header-line-format "Another client went on: C-c C-c appends the message beside that, C-c C-k leaves it")
    (message "pi-daemon: another client went on; C-c C-c again makes a branch")))

(defun pi-daemon-compose-leave ()
  "Leave the message; it stays in the kill ring."
  (interactive)
  (quit-windows-on (current-buffer) t)
  (message "Left; the leaf stays where it is, and the old text in the kill ring"))

(provide 'pi-daemon-compose)

;;; pi-daemon-compose.el ends here
