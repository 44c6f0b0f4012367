;;; pi-daemon-actions.el --- What the keys of the tree do  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Commands on the entry at point and on its session.  They ask the daemon and return; what changed is told by the
;; daemon's notifications, to this client as to all others.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'pi-daemon-compose)
(require 'pi-daemon-show)
(require 'pi-daemon-tree)
(require 'pi-daemon-why)

(declare-function pi-daemon-open "pi-daemon" (session &rest options))
(declare-function pi-daemon-unfold "pi-daemon" ())

(defvar-local pi-daemon-actions--compaction nil "The compaction that was asked for here, while it is under way.")

(defun pi-daemon-actions--entry ()
  "The node at point; signal a `user-error' where there is none."
  (pi-daemon-actions--there)
  (pi-daemon-tree-entry))

(defun pi-daemon-actions--there ()
  "Signal a `user-error' where this buffer's session isn't there."
  (unless pi-daemon-session
    (user-error "This buffer shows no session: M-x pi-daemon chooses one"))
  (when pi-daemon-gone
    (user-error "Of this session %s: g looks for it, M-x pi-daemon chooses another" pi-daemon-gone)))

(defun pi-daemon-actions--ask (method params then &rest options)
  "Send METHOD with PARAMS about this buffer's session.
THEN and OPTIONS are as in `pi-daemon-request'."
  (apply #'pi-daemon-request method `(:sessionId ,pi-daemon-session ,@params) then options))

;;; Looking

(defun pi-daemon-show-at-point ()
  "Show the entry at point in full, or what is folded away there."
  (interactive)
  (if (pi-daemon-tree-folded)
      (pi-daemon-unfold)
    (let ((id (plist-get (pi-daemon-actions--entry) :id)))
      (pi-daemon-actions--show-entry id))))

(defun pi-daemon-actions--show-entry (id)
  "Show the entry ID of this buffer's session in full."
  (let ((tree (current-buffer)))
    (pi-daemon-actions--ask
     "session/entries" (list :ids (vector id))
     (lambda (result)
       (pi-daemon-show "*pi entry*"
                       (lambda () (pi-daemon-actions--in tree (lambda () (pi-daemon-actions--show-entry id))))
                       (pi-daemon-show-entry (aref (plist-get result :entries) 0)))))))

(defun pi-daemon-actions--in (tree what)
  "Call WHAT in the buffer TREE, as long as that is there."
  (unless (buffer-live-p tree)
    (user-error "The tree that this came from is closed: M-x pi-daemon opens one"))
  (with-current-buffer tree
    (funcall what)))

(defun pi-daemon-show-context-at-leaf (&optional at-point)
  "Show what the model sees at the leaf.
With a prefix argument AT-POINT, at the entry at point."
  (interactive "P")
  (pi-daemon-actions--there)
  (pi-daemon-actions--show-context (and at-point (plist-get (pi-daemon-tree-entry) :id))))

(defun pi-daemon-actions--show-context (id)
  "Show what the model sees at the entry ID, nil: at the leaf."
  (let ((tree (current-buffer)))
    (pi-daemon-actions--ask
     "session/context" `(:format "llm" ,@(and id (list :leafId id)))
     (lambda (context)
       (pi-daemon-show "*pi context*"
                       (lambda () (pi-daemon-actions--in tree (lambda () (pi-daemon-actions--show-context id))))
                       (pi-daemon-show-context context) tree)))))

(defun pi-daemon-explain ()
  "Say why the model knows the entry at point, or why it doesn't."
  (interactive)
  (pi-daemon-actions--ask
   "session/explain" (list :entryId (plist-get (pi-daemon-actions--entry) :id))
   (lambda (result)
     (seq-doseq (entry (plist-get result :entries))
       (let ((lacking (pi-daemon-why-lacking entry)) (sentence (pi-daemon-why-sentence entry)))
         (if lacking
             (pi-daemon-show "*pi why*" nil (cons sentence lacking))
           (message "%s" sentence)))))))

(defun pi-daemon-search (query &optional here)
  "Search the text of all sessions for QUERY.
With a prefix argument HERE only those of this session's directory."
  (interactive (list (read-string "Search sessions for: ") current-prefix-arg))
  (when (string-blank-p query)
    (user-error "Say what to search for: words, or \"phrases\" in quotation marks"))
  (let ((cwd (and here (plist-get pi-daemon-session-state :cwd))) (from (current-buffer)))
    (pi-daemon-request
     "session/search" `(:query ,query :limit 100 ,@(and cwd (list :cwd cwd)))
     (lambda (result)
       (let ((hits (plist-get result :hits)))
         (if (seq-empty-p hits)
             (message "No entry says %s%s" (pi-daemon-text-line query)
                      (if (eq t (plist-get result :complete)) "" ", as far as sessions were searched: try again soon"))
           (pi-daemon-show "*pi search*" (lambda () (pi-daemon-search query here))
                           (pi-daemon-actions--hits query result) from)))))))

(defun pi-daemon-actions--hits (query result)
  "What was found for QUERY, the RESULT of `session/search', in parts."
  (append
   (list (pi-daemon-show-heading 1 "%s for %s" (pi-daemon-text-count (length (plist-get result :hits)) "hit")
                                 (pi-daemon-text-line query))
         (propertize (concat "RET on a hit opens its session there"
                             (unless (eq t (plist-get result :complete)) "; sessions are still being searched, g asks again"))
                     'face 'shadow))
   (mapcar (lambda (hit)
             (format "\n%s  %s, %s\n    %s"
                     (make-text-button
                      (pi-daemon-text-line (or (plist-get hit :name) (plist-get hit :sessionId)) 60) nil
                      'action (lambda (_)
                                (pi-daemon-open (plist-get hit :sessionId) :entry (plist-get hit :entryId))))
                     (pi-daemon-text-line (or (plist-get hit :role) (plist-get hit :type)))
                     (pi-daemon-text-line (plist-get hit :timestamp))
                     (pi-daemon-text-line (plist-get hit :snippet))))
           (plist-get result :hits))))

;;; Changing

(defun pi-daemon-move (&optional summarize)
  "Move the leaf to the entry at point, for what is appended next.
With a prefix argument SUMMARIZE the branch that is left is summarized there."
  (interactive "P")
  (let ((id (plist-get (pi-daemon-actions--entry) :id)))
    (if (and (equal id pi-daemon-leaf) (not summarize))
        (message "The leaf is there already")
      (pi-daemon-actions--ask
       "session/moveLeaf" `(:entryId ,id ,@(and summarize '(:summarize t)))
       (lambda (result)
         (message "The leaf is %s now%s" (pi-daemon-text-id (plist-get result :leafId))
                  (if (plist-get result :summaryEntryId) ", a summary of the branch that was left" "")))
       :progress (and summarize (pi-daemon-actions--progress "Summarizing"))))))

(defun pi-daemon-actions--progress (what)
  "For `:progress': a function for the echo area, about WHAT."
  (lambda (value)
    (unless (equal (plist-get value :kind) "end")
      (message "%s%s%s" what
               (if (plist-get value :percentage) (format " %d%%" (plist-get value :percentage)) "")
               (if (plist-get value :message) (concat ": " (pi-daemon-text-line (plist-get value :message) 100)) "...")))))

(defun pi-daemon-label (label)
  "Give the entry at point a LABEL; an empty one takes it away."
  (interactive
   (list (let ((node (pi-daemon-actions--entry)))
           (read-string (format "Label for %s (empty: none): " (pi-daemon-text-id (plist-get node :id)))
                        (plist-get node :label)))))
  (pi-daemon-actions--ask
   "session/label" (list :entryId (plist-get (pi-daemon-actions--entry) :id)
                         :label (if (string-blank-p label) nil label))
   (lambda (_) (message (if (string-blank-p label) "The label is gone" "Labelled")))))

(defun pi-daemon-rename (name)
  "Call the session NAME; an empty one takes its name away."
  (interactive
   (progn (pi-daemon-actions--there)
          (list (read-string "Name of the session (empty: none): " (plist-get pi-daemon-session-state :name)))))
  (pi-daemon-actions--there)
  (pi-daemon-actions--ask "session/rename" (list :name name) (lambda (_) (message "Renamed"))))

(defun pi-daemon-fork (&optional before)
  "Make a new session of the path to the entry at point, and show it.
With a prefix argument BEFORE the path ends before it, which is a user's
message then; its text goes to the kill ring."
  (interactive "P")
  (pi-daemon-actions--ask
   "session/fork" `(:entryId ,(plist-get (pi-daemon-actions--entry) :id) ,@(and before '(:position "before")))
   (lambda (state)
     (when-let ((text (plist-get state :editorText)))
       (kill-new text))
     (pi-daemon-open (plist-get state :sessionId))
     (message "Forked%s" (if (plist-get state :editorText) "; the message is in the kill ring" "")))))

(defun pi-daemon-omit ()
  "Leave the entry at point out of what the model sees.
This holds from the leaf on, on its path."
  (interactive)
  (let ((id (plist-get (pi-daemon-actions--entry) :id)))
    (when (y-or-n-p (format "Leave %s out of the model's context? " (pi-daemon-text-id id)))
      (pi-daemon-actions--ask "session/editContext" (list :targetId id :replacement nil)
                              (lambda (_) (message "Omitted: the model does not see it from here on (x shows what it sees)"))))))

(defun pi-daemon-compact (&optional instructions)
  "Have the older part of the model's context summarized.
With a prefix argument ask for INSTRUCTIONS for the summary."
  (interactive (list (and current-prefix-arg (read-string "What the summary is to look after: "))))
  (pi-daemon-actions--there)
  (when pi-daemon-actions--compaction
    (user-error "A compaction is under way: k stops it"))
  (when (y-or-n-p "Summarize the older part of what the model sees? ")
    (message "Compacting...")
    (setq pi-daemon-actions--compaction
          (pi-daemon-actions--ask
           "session/compact" (and instructions (not (string-blank-p instructions)) (list :instructions instructions))
           (lambda (done)
             (setq pi-daemon-actions--compaction nil)
             (when-let ((lacking (pi-daemon-show-lacking done)))
               (pi-daemon-show "*pi compaction*" nil lacking))
             (message "%s" (pi-daemon-show-compaction done)))
           :else (lambda (error)
                   (setq pi-daemon-actions--compaction nil)
                   (if (equal (plist-get error :reason) "cancelled")
                       (message "The compaction was stopped; nothing was changed")
                     (pi-daemon-complain error)))
           :progress (pi-daemon-actions--progress "Compacting")))))

(defun pi-daemon-stop-compaction ()
  "Stop the compaction that was asked for in this buffer."
  (interactive)
  (unless pi-daemon-actions--compaction
    (user-error "No compaction was asked for here"))
  (pi-daemon-cancel pi-daemon-actions--compaction))

(defun pi-daemon-request-writer ()
  "Ask another daemon that has this session's writer to hand it over."
  (interactive)
  (pi-daemon-actions--there)
  (pi-daemon-actions--ask "session/requestWriter" nil
                          (lambda (result) (message "The writer is %s" (plist-get result :status)))))

(defun pi-daemon-edit ()
  "Move the leaf before the user's message at point, and edit its text.
The text also goes to the kill ring, for an agent's own editor."
  (interactive)
  (let* ((node (pi-daemon-actions--entry)) (session pi-daemon-session))
    (unless (or (equal (plist-get node :role) "user") (equal (plist-get node :type) "custom_message"))
      (user-error "Only what a user said can be edited anew: go to such an entry (M-p, M-n)"))
    (pi-daemon-actions--ask
     "session/moveLeaf" (list :entryId (plist-get node :id) :position "before")
     (lambda (result)
       (let ((text (or (plist-get result :editorText) "")))
         (kill-new text)
         (pi-daemon-compose session (plist-get result :leafId) text))))))

(provide 'pi-daemon-actions)

;;; pi-daemon-actions.el ends here
