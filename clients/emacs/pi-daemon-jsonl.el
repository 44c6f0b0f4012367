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
    (define-key map (kbd "C-c C-t") #'pi-daemon-open-file)
    map)
  "Keys of `pi-daemon-jsonl-mode'.")

(declare-function pi-daemon-open-file "pi-daemon" (file &optional recover))
(autoload 'pi-daemon-open-file "pi-daemon" nil t)

;;;###autoload
(define-derived-mode pi-daemon-jsonl-mode fundamental-mode "pi session"
  "A session file of pi: one entry a line, which may be long.
\\[pi-daemon-open-file] shows it as a tree."
  (setq-local truncate-lines t)
  (setq-local bidi-paragraph-direction 'left-to-right)
  (setq-local bidi-inhibit-bpa t)
  (setq buffer-read-only t)
  (auto-revert-mode 1))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'pi-daemon-jsonl-mode pi-daemon-command)))

(provide 'pi-daemon-jsonl)

;;; pi-daemon-jsonl.el ends here
