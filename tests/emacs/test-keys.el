;;; test-keys.el --- What the keys of the tree do  -*- lexical-binding: t; -*-

;;; Code:

(require 'helper)

(defmacro pi-test-answering (answer &rest body)
  "Run BODY with ANSWER for whatever is asked in the minibuffer."
  (declare (indent 1))
  `(cl-letf (((symbol-function 'read-string) (lambda (&rest _) ,answer))
             ((symbol-function 'y-or-n-p) (lambda (_) ,answer)))
     ,@body))

(defun pi-test-leaf (session)
  "The leaf of SESSION, as the other client sees it."
  (plist-get (pi-test-call "session/path" :sessionId session) :leafId))

(ert-deftest pi-test-keys-move-label-rename ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (pi-test-go (nth 1 ids))
      (pi-test-key "m")
      (pi-test-until (pi-test-shows "<leaf> answer 1"))
      (pi-test-until (pi-test-said "The leaf is"))
      (should (equal (nth 1 ids) (pi-test-leaf session)))
      (pi-test-key "m")
      (should (pi-test-said "there already"))
      (pi-test-answering "a [label]" (pi-test-key "l"))
      (pi-test-until (pi-test-shows "\\[a \\[label\\]\\] "))
      (pi-test-answering "" (pi-test-key "l"))
      (pi-test-until (not (pi-test-shows "\\[a")))
      (pi-test-answering "called" (pi-test-key "r"))
      (pi-test-until (string-prefix-p "called" header-line-format)))))

(ert-deftest pi-test-keys-move-with-a-summary ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 3)))
    (pi-test-with-tree session
      (pi-test-go (nth 1 ids))
      (pi-test-key-with-prefix "m")
      (pi-test-until (pi-test-said "a summary of the branch that was left"))
      (pi-test-until (pi-test-shows "branch_summary")))))

(ert-deftest pi-test-keys-edit-a-message-anew ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (pi-test-go (nth 1 ids))
      (should-error (pi-test-key "e") :type 'user-error)
      (pi-test-go (nth 2 ids))
      (pi-test-key "e")
      (let ((compose (pi-test-until (get-buffer "*pi message*"))))
        (pi-test-until (equal (with-current-buffer compose (buffer-string)) "question 2"))
        (should (equal "question 2" (current-kill 0)))
        (pi-test-until (pi-test-shows "<leaf> answer 1"))
        (with-current-buffer compose
          (erase-buffer)
          (should-error (pi-test-key "C-c C-c") :type 'user-error)
          (insert "a better question")
          (pi-test-key "C-c C-c"))
        (pi-test-until (pi-test-shows "<leaf> a better question"))
        (pi-test-until (not (buffer-live-p compose)))))))

(ert-deftest pi-test-keys-edit-makes-a-branch-where-the-leaf-was-moved ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (pi-test-go (nth 2 ids))
      (pi-test-key "e")
      (let ((compose (pi-test-until (get-buffer "*pi message*"))))
        (pi-test-call "session/moveLeaf" :sessionId session :entryId (nth 3 ids))
        (with-current-buffer compose (pi-test-key "C-c C-c"))
        (pi-test-until (pi-test-said "pi-daemon: another client went on; C-c C-c again"))
        (should (equal (nth 3 ids) (pi-test-leaf session)))
        (should (buffer-live-p compose))
        (with-current-buffer compose (pi-test-key "C-c C-c"))
        (pi-test-until (not (buffer-live-p compose)))
        (pi-test-until (pi-test-shows "<leaf> question 2"))
        (should-not (member (pi-test-leaf session) ids)))
      (pi-test-go (nth 2 ids))
      (pi-test-key "e")
      (let ((compose (pi-test-until (get-buffer "*pi message*"))))
        (with-current-buffer compose (pi-test-key "C-c C-k"))
        (should-not (buffer-live-p compose))))))

(ert-deftest pi-test-keys-fork ()
  (let* ((session (pi-test-create "the first")) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (pi-test-go (nth 2 ids))
      (pi-test-key-with-prefix "f")
      (let ((fork (pi-test-until (cl-find-if (lambda (one) (not (eq one buffer))) (pi-daemon-follow-buffers)))))
        (pi-test-until (pi-test-said "Forked; the message is in the kill ring"))
        (should (equal "question 2" (current-kill 0)))
        (with-current-buffer fork
          (pi-test-until (pi-test-shows "<leaf> answer 1"))
          (should-not (pi-test-shows "question 2")))
        (should (eq fork (window-buffer (selected-window))))))))

(ert-deftest pi-test-keys-omit-and-context ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (pi-test-go (nth 0 ids))
      (pi-test-answering t (pi-test-key "o"))
      (pi-test-until (pi-test-said "Omitted"))
      (pi-test-key "x")
      (let ((context (pi-test-until (get-buffer "*pi context*"))))
        (with-current-buffer context
          (pi-test-until (pi-test-shows "# What the model sees at"))
          (should (pi-test-shows "^3 messages, about [0-9,]+ tokens, p/m, thinking off"))
          (should-not (pi-test-shows "question 1"))
          (should (pi-test-shows "## 3 assistant"))
          (let ((more (pi-test-append session (pi-test-user "later"))))
            (pi-test-key "g")
            (pi-test-until (pi-test-shows (concat "sees at " (car more))))
            (should (pi-test-shows "later")))))
      (pi-test-key-with-prefix "x")
      (with-current-buffer "*pi context*"
        (pi-test-until (pi-test-shows "^1 message,"))))))

(ert-deftest pi-test-keys-compact ()
  (let* ((session (pi-test-create)))
    (pi-test-append session (pi-test-user "Never touch /etc/passwd. Read a.py") (pi-test-assistant "ok")
                    (pi-test-user (make-string 90000 ?x)) (pi-test-assistant "done") (pi-test-user "go on"))
    (pi-test-with-tree session
      (pi-test-answering t (pi-test-key "c"))
      (should-error (pi-test-key "c") :type 'user-error)
      (pi-test-until (pi-test-said "Compacting: "))
      (pi-test-until (pi-test-said "Compacted: 92[0-9] tokens are about .* the summary (extractive) kept [0-9]+ of"))
      (pi-test-until (pi-test-shows "compaction"))
      (should-error (pi-test-key "k") :type 'user-error)
      (setq pi-test-said nil)
      (pi-test-answering t (pi-test-key "c"))
      (pi-test-until (pi-test-said "\\`pi-daemon: ")))))

(ert-deftest pi-test-keys-what-a-compaction-did-not-keep ()
  (let ((done '(:tokensBefore 1000 :tokensAfter 100 :summarizer "model" :summary "## Goal\nx"
                :retention (:policy "amend" :score 0.5 :scoreAfter 1 :kinds (:error (:kept 1 :asked 2) :read (:kept 0 :asked 0))
                            :missing [(:kind "error" :text "it\nbroke" :entryId "12345678")] :missingLeftOut 3))))
    (should (equal (pi-daemon-show-compaction done)
                   "Compacted: 1,000 tokens are about 100 now; the summary (model) kept 1 of 2 facts"))
    (let ((said (string-join (pi-daemon-show-lacking done) "\n")))
      (should (string-match-p "^- error: it broke (12345678)$" said))
      (should (string-match-p "^- and 3 more$" said)))))

(ert-deftest pi-test-keys-explain-and-search-say-where-the-daemon-has-neither ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 1)))
    (pi-test-with-tree session
      (pi-test-go (nth 0 ids))
      (setq pi-test-said nil)
      (pi-test-key "w")
      (pi-test-until (pi-test-said "is in the model's context (message 1): as it is stored\\|update pi-daemon"))
      (setq pi-test-said nil)
      (should-error (pi-test-answering " " (pi-test-key "s")) :type 'user-error)
      (pi-test-answering "nowhere-at-all" (pi-test-key "s"))
      (pi-test-until (pi-test-said "No entry says nowhere-at-all\\|update pi-daemon")))))

(ert-deftest pi-test-keys-a-hit-opens-its-session-at-the-entry ()
  (let* ((session (pi-test-create "found here")) (ids (pi-test-talk session 20)))
    (save-window-excursion
      (pi-daemon-show "*pi search*" nil
                      (pi-daemon-actions--hits
                       "answer" (list :complete t
                                      :hits (vector (list :sessionId session :entryId (nth 11 ids) :name "found here"
                                                          :type "message" :role "assistant" :timestamp "2026-01-01T00:00:00Z"
                                                          :snippet "an answer"))))
                      (window-buffer (selected-window)))
      (goto-char (point-min))
      (forward-button 1)
      (push-button)
      (let ((tree (pi-test-until (pi-daemon-follow-buffer session))))
        (with-current-buffer tree
          (pi-test-until (equal (nth 11 ids) (plist-get (pi-daemon-tree-node) :id))))
        (pi-test-close tree)))))

(ert-deftest pi-test-keys-help-and-lines-without-an-entry ()
  (let ((session (pi-test-create)))
    (pi-test-talk session 1)
    (pi-test-with-tree session
      (goto-char (point-max))
      (dolist (key '("RET" "m" "e" "f" "l" "o" "w"))
        (should-error (pi-test-key key) :type 'user-error))
      (pi-test-key "?")
      (with-current-buffer "*pi help*"
        (pcase-dolist (`(,key . ,_) pi-daemon-keys)
          (should (pi-test-shows (concat "^" (regexp-quote key) " "))))))))

(ert-deftest pi-test-choosing-a-session ()
  (let* ((here (directory-file-name (expand-file-name (getenv "HOME"))))
         (default-directory (file-name-as-directory here))
         (ours (plist-get (pi-test-call "session/create" :cwd here :persist "immediate" :name "of here") :sessionId))
         (theirs (pi-test-create "of elsewhere"))
         (pi-daemon--page 1)
         asked)
    (pi-test-append ours (pi-test-user "hello"))
    (pi-test-append theirs (pi-test-user "hello, too"))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt table &rest _)
                 (let ((metadata (cdr (funcall table "" nil 'metadata))))
                   (setq asked (mapcar (lambda (name)
                                         (list name (funcall (alist-get 'group-function metadata) name nil)
                                               (substring-no-properties
                                                (funcall (alist-get 'annotation-function metadata) name))))
                                       (all-completions "" table))))
                 "of here")))
      (pi-daemon))
    (should (equal (seq-take (car asked) 2) '("of here" "of this project")))
    (should (string-match-p "1 message, ~, open" (nth 2 (car asked))))
    (should (equal (nth 1 (assoc "of elsewhere" asked)) "others"))
    (let ((tree (pi-test-until (pi-daemon-follow-buffer ours))))
      (with-current-buffer tree
        (pi-test-until (pi-test-shows "<leaf> hello"))
        (should (equal (buffer-name) "*pi: of here*")))
      (pi-test-close tree))))

(ert-deftest pi-test-opening-a-file-and-a-damaged-one ()
  (let* ((session (pi-test-create)) (file nil))
    (pi-test-talk session 2)
    (pi-test-with-tree session
      (setq file (plist-get pi-daemon-session-state :path)))
    (pi-test-call "session/close" :sessionId session)
    (let ((damaged (expand-file-name "damaged.jsonl" (file-name-directory file))))
      (with-temp-file damaged
        (insert-file-contents file)
        (goto-char (point-min))
        (search-forward session)
        (replace-match "01234567-0000-7000-8000-000000000000")
        (search-forward "question 2")
        (beginning-of-line)
        (delete-char 5))
      (setq pi-test-said nil)
      (pi-daemon-open-file damaged)
      (pi-test-until (pi-test-said "C-u M-x pi-daemon opens it without the broken lines"))
      (pi-daemon-open-file damaged t)
      (let ((tree (pi-test-until (pi-daemon-follow-buffer "01234567-0000-7000-8000-000000000000"))))
        (with-current-buffer tree
          (pi-test-until (pi-test-shows "answer 2"))
          (should (string-match-p "line 4: " header-line-format)))
        (pi-test-close tree))
      (setq pi-test-said nil)
      (pi-daemon-open-file (expand-file-name "none.jsonl" (file-name-directory file)))
      (pi-test-until (pi-test-said "\\`pi-daemon: .*M-x pi-daemon chooses")))))

(require 'pi-daemon-jsonl)

(ert-deftest pi-test-a-session-file-shows-its-tree ()
  (let* ((session (pi-test-create)) (file nil))
    (pi-test-talk session 2)
    (pi-test-with-tree session
      (setq file (plist-get pi-daemon-session-state :path)))
    (save-window-excursion
      (let ((buffer (find-file-noselect file)))
        (with-current-buffer buffer
          (pi-daemon-jsonl-mode)
          (pi-test-key "C-c C-t"))
        (let ((tree (pi-test-until (pi-daemon-follow-buffer session))))
          (with-current-buffer tree
            (pi-test-until (pi-test-shows "<leaf> answer 2")))
          (pi-test-close tree))
        (kill-buffer buffer)))
    (with-temp-buffer
      (pi-daemon-jsonl-mode)
      (should-error (pi-daemon-jsonl-tree) :type 'user-error))))

;;; test-keys.el ends here
