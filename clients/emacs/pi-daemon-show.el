;;; pi-daemon-show.el --- Entries, contexts and findings in words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Buffers beside the tree: an entry in full, what the model sees, why it knows an entry or doesn't, what a search found
;; and what a compaction kept.  Images are named, not shown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'pi-daemon-text)

(defvar-local pi-daemon-show-again nil "Function that shows the same anew.")

(define-derived-mode pi-daemon-show-mode special-mode "pi"
  "Text from a session, for reading.
\\{pi-daemon-show-mode-map}"
  (setq-local revert-buffer-function (lambda (&rest _) (when pi-daemon-show-again (funcall pi-daemon-show-again))))
  (setq-local bidi-paragraph-direction 'left-to-right)
  (setq-local outline-regexp "#+ ")
  (visual-line-mode 1))

(defun pi-daemon-show (name again parts &optional from)
  "Show PARTS, strings, in the buffer called NAME; gives that buffer.
AGAIN is a function that shows the same anew.  Where the buffer FROM is
the selected window's still, the new one becomes that."
  (let ((buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'pi-daemon-show-mode)
        (pi-daemon-show-mode))
      (setq pi-daemon-show-again again)
      (let ((inhibit-read-only t))
        (with-silent-modifications
          (erase-buffer)
          (dolist (part parts)
            (when part
              (insert part "\n"))))
        (goto-char (point-min))))
    ;; An answer may come when the user is at something else.
    (if (and from (eq from (window-buffer (selected-window))))
        (pop-to-buffer buffer)
      (display-buffer buffer))
    (dolist (window (get-buffer-window-list buffer nil t))
      (set-window-point window (point-min))
      (set-window-start window (point-min)))
    buffer))

(defun pi-daemon-show-heading (level format &rest arguments)
  "A heading of LEVEL: FORMAT with ARGUMENTS."
  (propertize (concat (make-string level ?#) " " (apply #'format format arguments)) 'face 'bold))

;;; An entry

(defun pi-daemon-show-entry (entry)
  "ENTRY, as it is stored, in parts."
  (let ((type (plist-get entry :type)) (message (plist-get entry :message)))
    (append
     (list (pi-daemon-show-heading 1 "%s %s" (pi-daemon-text-line (if message (plist-get message :role) type))
                                   (pi-daemon-text-line (plist-get entry :id)))
           (propertize (format "%s  under %s" (pi-daemon-text-line (plist-get entry :timestamp))
                               (if (plist-get entry :parentId) (pi-daemon-text-line (plist-get entry :parentId))
                                 "nothing: it is a root"))
                       'face 'shadow)
           "")
     (if message
         (append (pi-daemon-show--facts message '(:role :content :timestamp :usage))
                 (pi-daemon-show--usage (plist-get message :usage))
                 (pi-daemon-show-message message))
       (append (pi-daemon-show--facts entry '(:type :id :parentId :timestamp :summary :content))
               (pi-daemon-show-message entry))))))

(defun pi-daemon-show--facts (object beside)
  "Lines with the members of OBJECT that aren't in BESIDE."
  (let ((lines (cl-loop for (key value) on object by #'cddr
                        unless (memq key beside)
                        collect (format "- %s: %s" (pi-daemon-show--key key) (pi-daemon-show--value value)))))
    (if lines (append lines '("")) nil)))

(defun pi-daemon-show--key (key)
  "KEY, a keyword, as it is in JSON."
  (pi-daemon-text-line (substring (symbol-name key) 1)))

(defun pi-daemon-show--value (value)
  "VALUE, as it was decoded from JSON, in one line.
A text of several lines is an indented block."
  (cond ((null value) "null")
        ((eq value t) "true")
        ((eq value :json-false) "false")
        ((numberp value) (number-to-string value))
        ((stringp value)
         (if (string-match-p "\n" (string-trim-right value))
             (concat "\n" (pi-daemon-show--indented value))
           (pi-daemon-text-block value)))
        ((vectorp value) (concat "[" (mapconcat #'pi-daemon-show--value value ", ") "]"))
        ((consp value)
         (concat "{" (mapconcat (lambda (pair)
                                  (format "%s: %s" (pi-daemon-show--key (car pair)) (pi-daemon-show--value (cadr pair))))
                                (seq-partition value 2) ", ")
                 "}"))
        (t (pi-daemon-text-line value))))

(defun pi-daemon-show--indented (text)
  "TEXT with its lines indented."
  (replace-regexp-in-string "^" "    " (pi-daemon-text-block text)))

(defun pi-daemon-show--usage (usage)
  "A line about USAGE, what an answer took."
  (when usage
    (list (propertize (format "%s in, %s out, %s from the cache" (pi-daemon-text-number (plist-get usage :input))
                              (pi-daemon-text-number (plist-get usage :output))
                              (pi-daemon-text-number (plist-get usage :cacheRead)))
                      'face 'shadow)
          "")))

(defun pi-daemon-show-message (message)
  "The text of MESSAGE, in parts."
  (append
   (when (stringp (plist-get message :command))
     (list (pi-daemon-text-block (format "$ %s\n%s" (plist-get message :command) (or (plist-get message :output) "")))))
   (when (stringp (plist-get message :summary))
     (list (pi-daemon-text-block (plist-get message :summary))))
   (let ((content (plist-get message :content)))
     (cond ((stringp content) (list (pi-daemon-text-block content)))
           ((vectorp content) (mapcar #'pi-daemon-show--block content))))
   (when-let ((sections (plist-get message :sections)))
     (list (pi-daemon-show--value sections)))
   (when-let ((why (plist-get message :errorMessage)))
     (list (propertize (pi-daemon-text-block (format "%s" why)) 'face 'error)))))

(defun pi-daemon-show--block (block)
  "One BLOCK of a message's content."
  (pcase (and (listp block) (plist-get block :type))
    ("text" (pi-daemon-text-block (format "%s" (plist-get block :text))))
    ("thinking" (propertize (concat "(thinking)\n" (pi-daemon-show--indented (format "%s" (plist-get block :thinking))))
                            'face 'shadow))
    ("image" (propertize (format "(image %s, %s)" (pi-daemon-text-line (plist-get block :mimeType))
                                 (pi-daemon-text-count (/ (* 3 (length (plist-get block :data))) 4) "byte"))
                         'face 'italic))
    ("toolCall"
     (let ((arguments (plist-get block :arguments)))
       (concat (propertize (format "calls %s (%s)" (pi-daemon-text-line (plist-get block :name))
                                   (pi-daemon-text-line (plist-get block :id)))
                           'face 'italic)
               (and arguments
                    (mapconcat (lambda (line) (concat "\n" line))
                               (delete "" (pi-daemon-show--facts arguments nil)) "")))))
    (kind (propertize (format "(%s)" (pi-daemon-text-line (or kind "something of an unknown kind"))) 'face 'italic))))

;;; What the model sees

(defun pi-daemon-show-context (context)
  "CONTEXT, the result of `session/context', in parts."
  (let ((model (plist-get context :model))
        (messages (plist-get context :messages))
        (problems (plist-get context :problems)))
    (append
     (list (pi-daemon-show-heading 1 "What the model sees at %s" (pi-daemon-text-line (or (plist-get context :leafId)
                                                                                       "no entry")))
           (propertize
            (format "%s, about %s, %s, thinking %s%s" (pi-daemon-text-count (length messages) "message")
                    (pi-daemon-text-count (plist-get context :tokens) "token")
                    (if model (pi-daemon-text-line (format "%s/%s" (plist-get model :provider) (plist-get model :modelId)))
                      "no model")
                    (pi-daemon-text-line (plist-get context :thinkingLevel))
                    (if (plist-get context :compactionId)
                        (format ", compacted by %s" (pi-daemon-text-line (plist-get context :compactionId))) ""))
            'face 'shadow))
     (pi-daemon-show--problems (append problems nil))
     (cl-loop for message across messages
              for source across (plist-get context :sources)
              for number from 1
              append (append (list "" (pi-daemon-show-heading
                                       2 "%d %s%s (%s)" number (pi-daemon-text-line (plist-get message :role))
                                       (if (plist-get message :toolName)
                                           (concat " " (pi-daemon-text-line (plist-get message :toolName)
                                                                            60))
                                         "")
                                       (pi-daemon-text-id source))
                                   "")
                             (pi-daemon-show-message message))))))

(defun pi-daemon-show--problems (problems)
  "Lines about PROBLEMS, for which a provider would refuse the context."
  (let ((more (- (length problems) 6)))
    (append
     (mapcar (lambda (problem)
               (propertize (format "A provider would refuse this: %s, %s in %s"
                                   (if (equal (plist-get problem :kind) "callWithoutResult")
                                       "a call without a result" "a result without its call")
                                   (pi-daemon-text-line (plist-get problem :toolCallId))
                                   (pi-daemon-text-line (plist-get problem :entryId)))
                           'face 'error))
             (if (> more 1) (seq-take problems 6) problems))
     (and (> more 1) (list (propertize (format "and %s more of the kind" (pi-daemon-text-number more)) 'face 'error))))))

;;; What a compaction did

(defun pi-daemon-show-compaction (done)
  "DONE, the result of `session/compact', in one line."
  (let* ((retention (plist-get done :retention))
         (kinds (cl-loop for (_ tally) on (plist-get retention :kinds) by #'cddr collect tally))
         (asked (apply #'+ (mapcar (lambda (one) (plist-get one :asked)) kinds)))
         (kept (apply #'+ (mapcar (lambda (one) (plist-get one :kept)) kinds))))
    (format "Compacted: %s tokens are about %s now; the summary (%s) kept %s"
            (pi-daemon-text-number (plist-get done :tokensBefore))
            (pi-daemon-text-number (plist-get done :tokensAfter))
            (pi-daemon-text-line (plist-get done :summarizer))
            (if (zerop asked) "what there was" (format "%d of %s" kept (pi-daemon-text-count asked "fact"))))))

(defun pi-daemon-show-lacking (done)
  "What the summary of DONE lacked, in parts; nil where that is nothing.
DONE is the result of `session/compact'."
  (let* ((retention (plist-get done :retention))
         (missing (append (plist-get retention :missing) nil))
         (more (or (plist-get retention :missingLeftOut) 0)))
    (when missing
      (append
       (list (pi-daemon-show-heading 1 "What the summary did not keep")
             (pi-daemon-show-compaction done)
             (if (equal (plist-get retention :policy) "amend")
                 "These facts were added to it, as far as there is room:" "These facts are lost to the model:")
             "")
       (mapcar (lambda (fact)
                 (format "- %s: %s%s" (pi-daemon-text-line (plist-get fact :kind))
                         (pi-daemon-text-line (plist-get fact :text))
                         (if (plist-get fact :entryId) (format " (%s)" (pi-daemon-text-id (plist-get fact :entryId))) "")))
               missing)
       (and (> more 0) (list (format "- and %s more" (pi-daemon-text-number more))))
       (list "" (pi-daemon-show-heading 2 "The summary") "" (pi-daemon-text-block (plist-get done :summary)))))))

(provide 'pi-daemon-show)

;;; pi-daemon-show.el ends here
