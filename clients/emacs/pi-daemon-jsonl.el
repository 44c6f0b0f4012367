;;; pi-daemon-jsonl.el --- Session files as documents, by eglot  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A mode for pi's session files, which eglot opens with `pi-daemon connect': outline, hover, definitions and diagnostics
;; where the daemon offers them.  The daemon writes these files, so they are read-only here and follow what is appended.

;;; Code:

(require 'pi-daemon-client)

(defvar eglot-server-programs)
(defvar bidi-inhibit-bpa)

(defvar pi-daemon-jsonl-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-t") #'pi-daemon-jsonl-tree)
    map)
  "Keys of `pi-daemon-jsonl-mode'.")

(declare-function pi-daemon-open-file "pi-daemon" (file &optional recover))
(autoload 'pi-daemon-open-file "pi-daemon" nil t)

;;;###autoload
(define-derived-mode pi-daemon-jsonl-mode fundamental-mode "pi session"
  "A session file of pi: one entry a line, which may be long.
\\[pi-daemon-jsonl-tree] shows it as a tree."
  (setq-local truncate-lines t)
  (setq-local bidi-paragraph-direction 'left-to-right)
  (setq-local bidi-inhibit-bpa t)
  (setq buffer-read-only t)
  (auto-revert-mode 1))

(defun pi-daemon-jsonl-tree (&optional recover)
  "Show the tree of the session in this buffer's file.
With a prefix argument RECOVER its broken lines are skipped."
  (interactive "P")
  (unless buffer-file-name
    (user-error "This buffer has no file: M-x pi-daemon chooses a session"))
  (pi-daemon-open-file buffer-file-name recover))

(declare-function eglot-ensure "eglot" ())

;;;###autoload
(defun pi-daemon-jsonl-eglot ()
  "Have eglot follow this buffer's session file, for `pi-daemon-jsonl-mode-hook'.
Emacs has eglot from 29 on; where it is missing, say so."
  (if (or (fboundp 'eglot-ensure) (require 'eglot nil t))
      (eglot-ensure)
    (message "pi-daemon: eglot is missing; M-x package-install RET eglot gets it")))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'pi-daemon-jsonl-mode pi-daemon-command)))

(provide 'pi-daemon-jsonl)

;;; pi-daemon-jsonl.el ends here
