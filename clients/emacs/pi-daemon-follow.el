;;; pi-daemon-follow.el --- A buffer that follows a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a buffer knows of its session, and how it stays true: the daemon's notifications, another reading of the tree
;; after what they tell, and catching up after the connection was lost or the daemon replaced.

;;; Code:

(require 'cl-lib)
(require 'pi-daemon-client)

(defcustom pi-daemon-context-window nil
  "The model's context window in tokens, for sessions that are opened.
The daemon can't know it.  Nil: leave it as other clients have set it."
  :type '(choice (const :tag "As it is set" nil) integer)
  :group 'pi-daemon)

(defvar-local pi-daemon-session nil "The id of the session that this buffer follows.")
(defvar-local pi-daemon-session-state nil "Its SessionState, a plist.")
(defvar-local pi-daemon-nodes [] "Its entries as `session/tree' gives them, under the filter.")
(defvar-local pi-daemon-leaf nil "The id of its leaf.")
(defvar-local pi-daemon-stats nil "Its `session/stats', a plist.")
(defvar-local pi-daemon-due nil "Whether it is time to compact it.")
(defvar-local pi-daemon-compacting nil "Whether a compaction of it is under way.")
(defvar-local pi-daemon-gone nil "Why nothing more is heard of it, in words; nil while something is.")
(defvar-local pi-daemon-trouble nil "What is wrong with it, in words.")
(defvar-local pi-daemon-filter "default" "Which of its entries are read.")
(defvar-local pi-daemon-redraw-function #'ignore "Called when the tree was read.")
(defvar-local pi-daemon-header-function #'ignore "Called when something else of the above has changed.")

(defvar-local pi-daemon--instance nil "The loading of the session that revisions belong to.")
(defvar-local pi-daemon--floor 0 "The revision of which everything is known.")
(defvar-local pi-daemon--heard 0 "The last revision that a notification told of.")
(defvar-local pi-daemon--recover nil "Whether broken lines are to be skipped.")
(defvar-local pi-daemon--reading nil "Nil, `planned', `reading', or `again' where another reading is to follow.")

(defun pi-daemon-follow-buffers ()
  "The buffers that follow a session."
  (cl-remove-if-not (lambda (buffer) (buffer-local-value 'pi-daemon-session buffer)) (buffer-list)))

(defun pi-daemon-follow-buffer (session)
  "The buffer that follows SESSION, an id; nil without one."
  (cl-find-if (lambda (buffer) (equal session (buffer-local-value 'pi-daemon-session buffer))) (buffer-list)))

(defun pi-daemon-follow (state recover)
  "Follow in this buffer the session with STATE, from `session/open'.
RECOVER: its broken lines are skipped."
  (setq pi-daemon-session (plist-get state :sessionId)
        pi-daemon--recover recover)
  (add-hook 'kill-buffer-hook #'pi-daemon-follow--end nil t)
  (pi-daemon-follow--opened state))

(defun pi-daemon-follow-open-params (session path recover)
  "Parameters of `session/open' for SESSION, an id, or the one at PATH.
RECOVER: its broken lines are skipped."
  `(,@(if session (list :sessionId session) (list :path path))
    ,@(and recover '(:recover "skip"))
    ,@(and pi-daemon-context-window (list :options (list :contextWindow pi-daemon-context-window)))))

(defun pi-daemon-follow--opened (state)
  "Take STATE for what is known of the session."
  (setq pi-daemon-session-state state
        pi-daemon-gone nil
        pi-daemon-trouble (pi-daemon-follow--damage (plist-get state :damage))
        pi-daemon-compacting nil
        pi-daemon--instance (plist-get state :instanceId)
        pi-daemon--floor (plist-get state :revision)
        pi-daemon--heard pi-daemon--floor)
  (pi-daemon-follow-read))

(defun pi-daemon-follow--damage (damage)
  "DAMAGE, a vector of DamageInfo, in words; nil without any."
  (unless (seq-empty-p damage)
    (let* ((first (aref damage 0)) (more (1- (length damage))) (line (plist-get first :line)))
      (concat (and line (format "line %s: " (pi-daemon-text-number line)))
              (pi-daemon-text-line (plist-get first :message) 100)
              (and (> more 0) (format ", and %d more" more))))))

(defun pi-daemon-follow-reopen ()
  "Open this buffer's session anew: its state, and the tree."
  (pi-daemon-request "session/open" (pi-daemon-follow-open-params pi-daemon-session nil pi-daemon--recover)
                     #'pi-daemon-follow--opened :else #'pi-daemon-follow--refused))

(defun pi-daemon-follow--refused (error)
  "Opening or reading the session came to ERROR."
  (pcase (plist-get error :reason)
    ((or "connectionLost" "shuttingDown" "cancelled" "noConnection" "daemonUnavailable"))
    ("sessionNotFound"
     (setq pi-daemon-gone "its file is gone")
     (funcall pi-daemon-header-function))
    (_ (setq pi-daemon-trouble (pi-daemon-text-line (plist-get error :message) 120))
       (pi-daemon-complain error)
       (funcall pi-daemon-header-function))))

;;; Notifications

(defun pi-daemon-follow--told (method params)
  "Take the notification METHOD with PARAMS, of whatever session."
  (when-let ((buffer (and (string-prefix-p "session/" method)
                          (pi-daemon-follow-buffer (plist-get params :sessionId)))))
    (with-current-buffer buffer
      (pi-daemon-follow--take method params))))

(defun pi-daemon-follow--take (method params)
  "Take the notification METHOD with PARAMS, which is of this buffer's session.
Taking one twice does no harm."
  (unless (member method '("session/resync" "session/replaced"))
    (when (equal (plist-get params :instanceId) pi-daemon--instance)
      (setq pi-daemon--heard (max pi-daemon--heard (plist-get params :revision)))))
  (pcase method
    ((or "session/appended" "session/leafChanged" "session/labelChanged" "session/compacted")
     (pi-daemon-follow-read))
    ("session/renamed"
     (setq pi-daemon-session-state (plist-put pi-daemon-session-state :name (plist-get params :name)))
     (funcall pi-daemon-header-function)
     (pi-daemon-follow-read))
    ("session/compaction"
     (setq pi-daemon-compacting (equal (plist-get params :status) "started"))
     (funcall pi-daemon-header-function))
    ((or "session/replaced" "session/resync")
     (pi-daemon-follow-reopen))
    ("session/damaged"
     (setq pi-daemon-trouble (pi-daemon-follow--damage (plist-get params :damage)))
     (pi-daemon-follow-read))
    ("session/failed"
     (setq pi-daemon-trouble (format "it takes no more entries: %s" (plist-get params :reason)))
     (funcall pi-daemon-header-function))
    ("session/deleted"
     (let ((trash (plist-get params :trashedTo)))
       (setq pi-daemon-gone (if trash (format "it was deleted, to %s" (pi-daemon-text-line trash)) "it was deleted")))
     (funcall pi-daemon-header-function))))

(defun pi-daemon-follow--connected ()
  "Another connection or another daemon: catch up in all buffers."
  (dolist (buffer (pi-daemon-follow-buffers))
    (with-current-buffer buffer
      (unless pi-daemon-gone
        ;; What is to be skipped is said with `session/open', to each daemon anew.
        (if pi-daemon--recover (pi-daemon-follow-reopen) (pi-daemon-follow--catch-up))))))

(defun pi-daemon-follow--catch-up ()
  "Subscribe again with what this buffer knows, and take what it missed."
  (pi-daemon-request
   "session/subscribe"
   ;; A connection may break between two notifications of one revision, so the last one heard is asked for again.
   (list :sessionId pi-daemon-session
         :since (list :instanceId pi-daemon--instance
                      :revision (max pi-daemon--floor (1- pi-daemon--heard))))
   (lambda (result)
     (if (eq t (plist-get result :fresh))
         (pi-daemon-follow-reopen)
       (seq-doseq (event (plist-get result :events))
         (pi-daemon-follow--take (plist-get event :method) (plist-get event :params)))
       (pi-daemon-follow-read)))
   :else #'pi-daemon-follow--refused))

(defun pi-daemon-follow--state-changed ()
  "Show the state of the connection in all buffers."
  (dolist (buffer (pi-daemon-follow-buffers))
    (with-current-buffer buffer
      (funcall pi-daemon-header-function))))

(defun pi-daemon-follow--end ()
  "Hear no more of this buffer's session.
After the last such buffer the connection ends."
  (let ((session pi-daemon-session))
    (setq pi-daemon-session nil)
    (if (pi-daemon-follow-buffers)
        (when (and (eq pi-daemon-state 'ready) (not pi-daemon-gone))
          (with-temp-buffer
            (pi-daemon-request "session/close" (list :sessionId session) #'ignore :else #'ignore)))
      (pi-daemon-disconnect))))

;;; Reading

(defun pi-daemon-follow-read ()
  "Read the tree anew, once what is told at the same time was taken in."
  (pcase pi-daemon--reading
    ('nil (pi-daemon-follow--plan 0))
    ('reading (setq pi-daemon--reading 'again))))

(defun pi-daemon-follow--plan (seconds)
  "Read the tree in some SECONDS."
  (setq pi-daemon--reading 'planned)
  (run-at-time seconds nil
               (lambda (buffer)
                 (when (buffer-live-p buffer)
                   (with-current-buffer buffer
                     (pi-daemon-follow--begin))))
               (current-buffer)))

(defun pi-daemon-follow--begin ()
  "Ask for the tree, page by page, and for the figures."
  (setq pi-daemon--reading 'reading)
  (let ((begun (float-time)))
    (pi-daemon-request "session/stats" (list :sessionId pi-daemon-session)
                       (lambda (stats)
                         (setq pi-daemon-stats stats)
                         (pi-daemon-follow--ask-due))
                       :else #'ignore)
    (pi-daemon-follow--page nil nil pi-daemon-filter begun)))

(defun pi-daemon-follow--page (cursor pages filter begun)
  "Ask for the page of the tree at CURSOR under FILTER.
PAGES are those before it, the last first; reading has BEGUN at that time."
  (pi-daemon-request
   "session/tree" `(:sessionId ,pi-daemon-session :filter ,filter ,@(and cursor (list :cursor cursor)))
   (lambda (result)
     (let ((pages (cons (plist-get result :nodes) pages))
           (next (plist-get result :nextCursor)))
       (cond
        ((not (equal filter pi-daemon-filter)) (pi-daemon-follow--begin))
        (next (pi-daemon-follow--page next pages filter begun))
        (t (setq pi-daemon-nodes (apply #'vconcat (reverse pages))
                 pi-daemon-leaf (plist-get result :leafId))
           (funcall pi-daemon-redraw-function)
           (pi-daemon-follow--done (- (float-time) begun))))))
   :else (lambda (error)
           (setq pi-daemon--reading nil)
           (pi-daemon-follow--refused error))))

(defun pi-daemon-follow--done (seconds)
  "The tree was read in SECONDS."
  (let ((again (eq pi-daemon--reading 'again)))
    (setq pi-daemon--reading nil)
    (when again
      ;; A huge session that grows all the time must leave Emacs time for other things.
      (pi-daemon-follow--plan (if (< seconds 0.1) 0 (min 30 (* 3 seconds)))))))

(defun pi-daemon-follow--ask-due ()
  "Ask whether it is time to compact, unless there is much room yet."
  (let ((share (plist-get pi-daemon-stats :contextShare)))
    (if (or (not share) (< share 0.5))
        (setq pi-daemon-due nil)
      (pi-daemon-request "session/compactionPlan" (list :sessionId pi-daemon-session)
                         (lambda (plan)
                           (setq pi-daemon-due (eq t (plist-get plan :shouldCompact)))
                           (funcall pi-daemon-header-function))
                         :else (lambda (_) (setq pi-daemon-due nil))))))

(add-hook 'pi-daemon-told-functions #'pi-daemon-follow--told)
(add-hook 'pi-daemon-connected-functions #'pi-daemon-follow--connected)
(add-hook 'pi-daemon-state-functions #'pi-daemon-follow--state-changed)
(add-hook 'pi-daemon-wanted-functions #'pi-daemon-follow-buffers)

(provide 'pi-daemon-follow)

;;; pi-daemon-follow.el ends here
