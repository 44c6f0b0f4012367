;;; pi-daemon.el --- Branches of pi's sessions, live from pi-daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (jsonrpc "1.0.14"))
;; Keywords: tools, processes

;;; Commentary:

;; M-x pi-daemon chooses a session of the pi coding agent and shows its tree of entries, which follows what others append,
;; move, label and compact.  ? there says what the keys do.  The daemon is reached through `pi-daemon connect', or at
;; `pi-daemon-socket'.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'subr-x)
(require 'pi-daemon-actions)

(defconst pi-daemon-keys
  '(("RET" pi-daemon-show-at-point "the entry in full; on a folded stretch, its entries")
    ("TAB" pi-daemon-unfold "show what is folded here, else fold again what was unfolded")
    ("t" pi-daemon-toggle-fold "fold straight stretches, or don't")
    ("n" next-line "down")
    ("p" previous-line "up")
    ("M-n" pi-daemon-next-user "the next message of a user")
    ("M-p" pi-daemon-previous-user "the one before")
    ("." pi-daemon-go-to-leaf "go to the leaf")
    ("^" pi-daemon-go-to-parent "go to the entry that this one hangs under")
    ("m" pi-daemon-move "move the leaf here; C-u: and summarize the branch that is left")
    ("e" pi-daemon-edit "edit the user's message anew, with the leaf before it")
    ("f" pi-daemon-fork "a new session of the path to here; C-u: to before this message")
    ("l" pi-daemon-label "label the entry")
    ("r" pi-daemon-rename "name the session")
    ("o" pi-daemon-omit "leave the entry out of the model's context")
    ("c" pi-daemon-compact "summarize the older part of the context; C-u: with instructions")
    ("k" pi-daemon-stop-compaction "stop that")
    ("w" pi-daemon-explain "why the model knows the entry, or doesn't")
    ("x" pi-daemon-show-context-at-leaf "what the model sees; C-u: what it would see here")
    ("s" pi-daemon-search "search all sessions; C-u: those of this directory")
    ("1" pi-daemon-filter-default "filter: without labels and settings")
    ("2" pi-daemon-filter-no-tools "filter: without results of tools, too")
    ("3" pi-daemon-filter-user-only "filter: what users said")
    ("4" pi-daemon-filter-labeled-only "filter: what bears a label")
    ("5" pi-daemon-filter-all "filter: everything")
    ("g" pi-daemon-refresh "read everything anew; connect again")
    ("?" pi-daemon-help "this")
    ("q" quit-window "put the tree away; killing its buffer ends the following"))
  "The keys of the tree: each with its command, and what that does.")

(defvar pi-daemon-tree-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key ,command ,_) pi-daemon-keys)
      (define-key map (kbd key) command))
    (define-key map (kbd "<tab>") #'pi-daemon-unfold)
    map)
  "Keys of `pi-daemon-tree-mode'.")

(define-derived-mode pi-daemon-tree-mode special-mode "pi tree"
  "The branches of a session, as they are now.
\\{pi-daemon-tree-mode-map}"
  (setq-local truncate-lines t)
  (setq-local bidi-paragraph-direction 'left-to-right)
  (setq pi-daemon-tree--unfolded (make-hash-table :test #'equal)
        pi-daemon-tree--places (make-hash-table :test #'equal)
        pi-daemon-redraw-function #'pi-daemon-tree-draw
        pi-daemon-header-function #'pi-daemon-header-draw))

;;; Choosing a session

;;;###autoload
(defun pi-daemon (&optional recover)
  "Choose a session and show its tree.
With a prefix argument RECOVER broken lines of its file are skipped
instead of refused."
  (interactive "P")
  (let* ((here (pi-daemon--here))
         (sessions (pi-daemon--sessions here)))
    (unless sessions
      (user-error "The daemon knows no sessions: run pi once, or look at `pi-daemon status' for the directory it looks in"))
    (pi-daemon-open (plist-get (pi-daemon--choose sessions here) :sessionId) :recover recover)))

;;;###autoload
(defun pi-daemon-open-file (file &optional recover)
  "Show the tree of the session in FILE.
With a prefix argument RECOVER its broken lines are skipped."
  (interactive (list (read-file-name "Session file: " nil buffer-file-name t) current-prefix-arg))
  (pi-daemon-open nil :path (expand-file-name file) :recover recover))

(defun pi-daemon--here ()
  "The directory of the current project, else the current one.
It is written as sessions have it."
  (let ((project (project-current)))
    (directory-file-name (expand-file-name (if project (project-root project) default-directory)))))

(defun pi-daemon--sessions (here)
  "The sessions there are, those of the directory HERE first, else the newest."
  (let* ((ours (pi-daemon--ask-list (list :cwd here)))
         (all (pi-daemon--ask-list nil))
         (known (make-hash-table :test #'equal)))
    (pi-daemon-wait (lambda () (and (car ours) (car all))) "Waiting for the daemon")
    (dolist (asked (list ours all))
      (when (plist-get (car asked) :message)
        (user-error "%s" (pi-daemon-error-text (car asked)))))
    (cl-remove-if (lambda (session)
                    (prog1 (gethash (plist-get session :path) known)
                      (when (plist-get session :path)
                        (puthash (plist-get session :path) t known))))
                  (append (plist-get (car ours) :sessions) (plist-get (car all) :sessions) nil))))

(defvar pi-daemon--page 1000
  "Sessions that are asked for at a time: as many as the protocol allows.")

(defun pi-daemon--ask-list (params)
  "Ask for the sessions with PARAMS, page by page.
Return a list whose first element becomes the answer or the error."
  (let ((asked (list nil)))
    (pi-daemon--ask-page params asked nil nil)
    asked))

(defun pi-daemon--ask-page (params asked cursor before)
  "Ask for the page of sessions at CURSOR, with PARAMS.
BEFORE are the sessions of earlier pages; ASKED gets them all."
  (pi-daemon-request
   "session/list" `(:limit ,pi-daemon--page ,@params ,@(and cursor (list :cursor cursor)))
   (lambda (result)
     (let ((sessions (vconcat before (plist-get result :sessions))) (next (plist-get result :nextCursor)))
       (if next
           (pi-daemon--ask-page params asked next sessions)
         (setcar asked (list :sessions sessions)))))
   :else (lambda (error) (setcar asked error))))

(defun pi-daemon--choose (sessions here)
  "Have one of SESSIONS chosen.
Those of the directory HERE are shown apart."
  (let ((candidates (make-hash-table :test #'equal)) (names nil))
    (dolist (session sessions)
      (let ((name (pi-daemon--title session)))
        (when (gethash name candidates)
          (setq name (format "%s <%s>" name (pi-daemon-text-line (plist-get session :sessionId)))))
        (puthash name session candidates)
        (push name names)))
    (setq names (nreverse names))
    (gethash
     (completing-read
      (format-prompt "Session" (car names))
      (lambda (string predicate action)
        (if (eq action 'metadata)
            `(metadata (category . pi-daemon-session)
                       (display-sort-function . identity)
                       (cycle-sort-function . identity)
                       (group-function . ,(lambda (name transform)
                                            (cond (transform name)
                                                  ((equal here (plist-get (gethash name candidates) :cwd))
                                                   "of this project")
                                                  (t "others"))))
                       (annotation-function . ,(lambda (name) (pi-daemon--annotation (gethash name candidates)))))
          (complete-with-action action names string predicate)))
      nil t nil nil (car names))
     candidates)))

(defun pi-daemon--title (session)
  "What SESSION, a SessionInfo, is called in a list."
  (let ((name (plist-get session :name)) (first (plist-get session :firstMessage)))
    (cond ((and name (not (string-blank-p name))) (pi-daemon-text-line name 60))
          ((and first (not (string-blank-p first))) (pi-daemon-text-line first 60))
          (t (format "session %s" (pi-daemon-text-line (plist-get session :sessionId)))))))

(defun pi-daemon--annotation (session)
  "What is said of SESSION, a SessionInfo, beside its title."
  (propertize (format "  %s, %s, %s%s%s"
                      (pi-daemon--time (plist-get session :modified))
                      (pi-daemon-text-count (plist-get session :messageCount) "message")
                      (pi-daemon-text-line (abbreviate-file-name (or (plist-get session :cwd) "")))
                      (if (eq t (plist-get session :open)) ", open" "")
                      (if (eq t (plist-get session :damaged)) ", damaged" ""))
              'face 'completions-annotations))

(defun pi-daemon--time (stamp)
  "STAMP, in ISO 8601, as minutes of the local time."
  (condition-case nil
      (format-time-string "%Y-%m-%d %H:%M" (date-to-time stamp))
    (error (pi-daemon-text-line stamp))))

;;; The buffer

(cl-defun pi-daemon-open (session &key path recover entry)
  "Show the tree of the SESSION with that id, or at PATH, with point at ENTRY.
RECOVER: broken lines of its file are skipped."
  (let ((buffer (and session (pi-daemon-follow-buffer session))))
    (if (and buffer (not recover))
        (pi-daemon--visit buffer entry)
      (pi-daemon-request "session/open" (pi-daemon-follow-open-params session path recover)
                         (lambda (state) (pi-daemon--show state recover entry))))))

(defun pi-daemon--show (state recover entry)
  "Show the session with STATE, with point at ENTRY.
RECOVER: its broken lines are skipped."
  (let ((buffer (or (pi-daemon-follow-buffer (plist-get state :sessionId))
                    (generate-new-buffer
                     (format "*pi: %s*" (pi-daemon-text-line (or (plist-get state :name)
                                                                 (file-name-nondirectory (plist-get state :cwd)))
                                                             40))))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'pi-daemon-tree-mode)
        (pi-daemon-tree-mode)
        (setq default-directory (if (file-directory-p (plist-get state :cwd))
                                    (file-name-as-directory (plist-get state :cwd))
                                  default-directory)
              pi-daemon-tree--jump t))
      (pi-daemon-follow state recover)
      (pi-daemon-tree-draw))
    (pi-daemon--visit buffer entry)))

(defun pi-daemon--visit (buffer entry)
  "Show BUFFER, a tree, with point at ENTRY where that isn't nil."
  (pop-to-buffer-same-window buffer)
  (when entry
    (if (and (gethash entry pi-daemon-tree--places) (not pi-daemon--reading))
        (pi-daemon-tree-reveal entry)
      ;; It is yet to be read, or the filter hides it.
      (setq pi-daemon-tree--jump entry)
      (pi-daemon-set-filter "all"))))

;;; Moving about

(defun pi-daemon-unfold ()
  "Show the entries that are folded away at point.
Elsewhere fold again what was unfolded."
  (interactive)
  (let ((nodes (pi-daemon-tree-folded)))
    (cond (nodes
           (dolist (node nodes)
             (puthash (plist-get node :id) t pi-daemon-tree--unfolded))
           (setq pi-daemon-tree--jump (plist-get (car nodes) :id)))
          ((hash-table-empty-p pi-daemon-tree--unfolded)
           (user-error "Nothing is folded here: t turns folding on and off"))
          (t (clrhash pi-daemon-tree--unfolded)))
    (pi-daemon-tree-draw)))

(defun pi-daemon-toggle-fold ()
  "Fold straight stretches, or show them."
  (interactive)
  (setq pi-daemon-tree--fold (not pi-daemon-tree--fold))
  (clrhash pi-daemon-tree--unfolded)
  (pi-daemon-tree-draw))

(defun pi-daemon-go-to-leaf ()
  "Go to the leaf."
  (interactive)
  (unless (pi-daemon-tree-go (pi-daemon-tree-shown-leaf))
    (user-error "The leaf is before the first entry")))

(defun pi-daemon-go-to-parent ()
  "Go to the entry that the one at point hangs under."
  (interactive)
  (unless (pi-daemon-tree-reveal (plist-get (pi-daemon-tree-entry) :parentId))
    (user-error "This entry is a root")))

(defun pi-daemon-next-user (&optional back)
  "Go to the next message of a user; with BACK to the one before."
  (interactive)
  (let ((found nil))
    (save-excursion
      (while (and (not found) (zerop (forward-line (if back -1 1))) (not (eobp)))
        (let ((nodes (or (pi-daemon-tree-folded) (list (pi-daemon-tree-node)))))
          (setq found (cl-find "user" nodes :test #'equal :key (lambda (node) (plist-get node :role)) :from-end back)))))
    (unless found
      (user-error "There is no other message of a user"))
    (pi-daemon-tree-reveal (plist-get found :id))))

(defun pi-daemon-previous-user ()
  "Go to the message of a user before point."
  (interactive)
  (pi-daemon-next-user t))

(defun pi-daemon-set-filter (filter)
  "Show the entries of FILTER, one of the protocol's."
  (interactive (list (completing-read "Filter: " pi-daemon-tree-filters nil t)))
  (setq pi-daemon-filter filter)
  (pi-daemon-follow-read)
  (pi-daemon-header-draw))

(defun pi-daemon-filter-default () "Leave out labels and settings." (interactive) (pi-daemon-set-filter "default"))
(defun pi-daemon-filter-no-tools () "Leave out tools' results, too." (interactive) (pi-daemon-set-filter "noTools"))
(defun pi-daemon-filter-user-only () "Show what users said." (interactive) (pi-daemon-set-filter "userOnly"))
(defun pi-daemon-filter-labeled-only () "Show what bears a label." (interactive) (pi-daemon-set-filter "labeledOnly"))
(defun pi-daemon-filter-all () "Show everything." (interactive) (pi-daemon-set-filter "all"))

(defun pi-daemon-refresh ()
  "Read the session anew, over another connection where there is none."
  (interactive)
  (setq pi-daemon-gone nil)
  (unless (memq pi-daemon-state '(ready connecting))
    (pi-daemon-connect))
  (pi-daemon-follow-reopen))

(defun pi-daemon-help ()
  "Say what the keys of the tree do."
  (interactive)
  (pi-daemon-show "*pi help*" nil
                  (append (list (pi-daemon-show-heading 1 "Keys of the tree") "")
                          (mapcar (lambda (key) (format "%-4s %s" (car key) (nth 2 key))) pi-daemon-keys))))

(provide 'pi-daemon)

;;; pi-daemon.el ends here
