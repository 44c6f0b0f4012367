;;; pi-daemon-text.el --- Text from sessions, made harmless  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A tool result may hold anything: control characters, marks that turn the direction of writing around, half
;; surrogate pairs, a line of a million characters.  What these functions give can be put into any buffer.

;;; Code:

(require 'subr-x)

(defconst pi-daemon-text--dangerous
  (concat "[\0-\10\13-\37\177\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
          (string #xd800) "-" (string #xdfff) "\ufeff]")
  "Control characters, separators, direction marks and half surrogate pairs.
Tabs and newlines aren't among them.")

(defconst pi-daemon-text--columns 500
  "Characters after which a line is broken: Emacs is slow in lines much longer.")

(defun pi-daemon-text--visible (found)
  "What stands for the one character in FOUND."
  (let ((code (aref found 0)))
    (cond ((< code #x20) (string (+ #x2400 code)))
          ((= code #x7f) "\u2421")
          ((<= #xd800 code #xdfff) "\ufffd")
          (t (format "<U+%04X>" code)))))

(defun pi-daemon-text--harmless (text)
  "TEXT with its dangerous characters made visible, and without properties."
  (let ((plain (substring-no-properties text)))
    (if (string-match-p pi-daemon-text--dangerous plain)
        (replace-regexp-in-string pi-daemon-text--dangerous #'pi-daemon-text--visible plain t t)
      plain)))

(defun pi-daemon-text-line (text &optional width)
  "TEXT on one line, of at most WIDTH characters where that is given.
What isn't a string becomes one."
  (let* ((string (if (stringp text) text (format "%s" (or text ""))))
         ;; What is cut off need not be looked at: a text may have megabytes.
         (start (if (and width (> (length string) (* 4 width))) (substring string 0 (* 4 width)) string))
         (flat (if (string-match-p "[\t\r\n]\\|  \\|\\` \\| \\'" start)
                   (string-trim (replace-regexp-in-string "[\t\r\n ]+" " " start))
                 start))
         (line (pi-daemon-text--harmless flat)))
    (if (and width (> (length line) width))
        (concat (substring line 0 (max 0 (1- width))) "…")
      line)))

(defun pi-daemon-text-block (text)
  "TEXT with its lines, without newlines around it.
Lines too long for Emacs are broken."
  (let* ((lines (split-string (string-replace "\r\n" "\n" text) "\n"))
         (harmless (mapconcat #'pi-daemon-text--broken lines "\n")))
    (string-trim harmless "\n+" "[\n\t ]+")))

(defun pi-daemon-text--broken (line)
  "LINE in pieces that Emacs can show."
  (let ((line (pi-daemon-text--harmless line)))
    (if (<= (length line) pi-daemon-text--columns)
        line
      (let ((pieces nil) (at 0))
        (while (< at (length line))
          (push (substring line at (min (length line) (+ at pi-daemon-text--columns))) pieces)
          (setq at (+ at pi-daemon-text--columns)))
        (string-join (nreverse pieces) (propertize "↩\n" 'face 'shadow))))))

(defun pi-daemon-text-number (number)
  "NUMBER with its digits in groups; what is no number as a question mark."
  (if (not (numberp number))
      "?"
    (let ((digits (number-to-string (abs (round number)))))
      (while (string-match "\\([0-9]\\)\\([0-9]\\{3\\}\\)\\(\\'\\|,\\)" digits)
        (setq digits (replace-match "\\1,\\2\\3" t nil digits)))
      (concat (and (< number 0) "-") digits))))

(defun pi-daemon-text-count (number one &optional many)
  "NUMBER with the noun ONE, or MANY where it isn't one."
  (format "%s %s" (pi-daemon-text-number number) (if (eql number 1) one (or many (concat one "s")))))

(defun pi-daemon-text-id (id)
  "ID of an entry or a session as it is shown: its first characters."
  (if (stringp id) (pi-daemon-text-line (substring id 0 (min 8 (length id)))) "?"))

(provide 'pi-daemon-text)

;;; pi-daemon-text.el ends here
