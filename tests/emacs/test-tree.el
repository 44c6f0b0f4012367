;;; test-tree.el --- The tree, as others change its session  -*- lexical-binding: t; -*-

;;; Code:

(require 'helper)

(ert-deftest pi-test-tree-shows-branches-labels-and-the-leaf ()
  (let* ((session (pi-test-create "A name"))
         (ids (pi-test-talk session 3)))
    (pi-test-call "session/label" :sessionId session :entryId (nth 5 ids) :label "good\nplace")
    (pi-test-call "session/moveLeaf" :sessionId session :entryId (nth 1 ids))
    (let ((beside (pi-test-append session (pi-test-user "another way"))))
      (pi-test-with-tree session
        (should (equal (butlast (mapcar (lambda (line) (replace-regexp-in-string "  +" " " line)) (pi-test-lines)) 0)
                       (list (format "● %s user question 1" (nth 0 ids))
                             (format "● %s assistant answer 1" (nth 1 ids))
                             (format "├─○ %s user question 2" (nth 2 ids))
                             (format "│ ○ %s assistant answer 2" (nth 3 ids))
                             (format "│ ○ %s user question 3" (nth 4 ids))
                             (format "│ ○ %s assistant [good place] answer 3" (nth 5 ids))
                             (format "◆ %s user <leaf> another way" (car beside)))))
        (should (equal (plist-get (pi-daemon-tree-node) :id) (car beside)))
        (should (eq 'pi-daemon-beside
                    (get-text-property (progn (pi-test-go (nth 2 ids)) (search-forward "○") (1- (point))) 'face)))
        (should (string-match-p "A name  92[0-9] tokens" header-line-format))))))

(ert-deftest pi-test-tree-in-ascii ()
  (let* ((session (pi-test-create)) (pi-daemon-ascii t))
    (pi-test-talk session 20)
    (pi-test-with-tree session
      (should-not (string-match-p "[^[:ascii:]]" (string-replace "…" "" (buffer-string))))
      (should (pi-test-shows "^# "))
      (should (pi-test-shows "^: [0-9]+ more: [0-9]+ \\(user\\|assistant\\)")))))

(ert-deftest pi-test-tree-filters-are-the-daemons ()
  (let* ((session (pi-test-create "named"))
         (ids (pi-test-append session (pi-test-user "q1") (pi-test-assistant "a1")
                              '(:type "message" :message (:role "toolResult" :toolCallId "c" :toolName "ls" :isError :json-false
                                                                :content [(:type "text" :text "out")] :timestamp 1))
                              '(:type "custom" :customType "mine") (pi-test-user "q2"))))
    (pi-test-call "session/label" :sessionId session :entryId (nth 1 ids) :label "here")
    (pi-test-with-tree session
      (dolist (key '("1" "2" "3" "4" "5"))
        (let ((filter (nth (1- (string-to-number key)) pi-daemon-tree-filters)))
          (pi-test-key key)
          (pi-test-until (and (not pi-daemon--reading) (equal filter pi-daemon-filter)))
          (let ((wanted (append (plist-get (pi-test-call "session/tree" :sessionId session :filter filter) :nodes) nil))
                (shown nil))
            (save-excursion
              (goto-char (point-min))
              (while (not (eobp))
                (when (pi-daemon-tree-node)
                  (push (plist-get (pi-daemon-tree-node) :id) shown))
                (forward-line 1)))
            (should (equal (mapcar (lambda (node) (plist-get node :id)) wanted) (nreverse shown))))
          (should (eq (not (equal filter "default")) (and (string-match-p (regexp-quote filter) header-line-format) t)))))
      (pi-test-key "3")
      (pi-test-until (and (not pi-daemon--reading) (pi-test-shows "which this filter hides"))))))

(ert-deftest pi-test-tree-says-what-a-filter-hides ()
  (let ((session (pi-test-create)))
    (pi-test-with-tree session
      (should (pi-test-shows "There are no entries to show yet"))
      (pi-test-key "4")
      (pi-test-until (pi-test-shows "No entry shows under the filter labeledOnly; 1 shows")))))

(ert-deftest pi-test-tree-follows-another-client ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)) (file nil))
    (pi-test-with-tree session
      (pi-test-go (nth 1 ids))
      (move-to-column 4)
      (let ((more (pi-test-append session (pi-test-user "appended"))))
        (pi-test-until (pi-test-shows "<leaf> appended"))
        (should (equal (plist-get (pi-daemon-tree-node) :id) (nth 1 ids)))
        (should (= 4 (current-column)))
        (pi-test-call "session/label" :sessionId session :entryId (car more) :label "mark")
        (pi-test-until (pi-test-shows "\\[mark\\]"))
        (pi-test-call "session/moveLeaf" :sessionId session :entryId (nth 0 ids))
        (pi-test-until (pi-test-shows "<leaf> question 1"))
        (pi-test-call "session/rename" :sessionId session :name "50% %s\nnew")
        (pi-test-until (string-prefix-p "50%% %%s new" header-line-format))
        (pi-test-call "session/configure" :sessionId session :contextWindow 1000 :keepRecentTokens 1)
        (pi-test-call "session/moveLeaf" :sessionId session :entryId (nth 3 ids))
        (pi-test-until (string-match-p "920 tokens of 1,000 (92%%)  compaction due: c" header-line-format))
        (setq file (plist-get pi-daemon-session-state :path))
        (should (equal (plist-get (pi-daemon-tree-node) :id) (nth 1 ids)))
        ;; Another process rewrites the file: it is another loading, of which all is read again.
        (let ((before pi-daemon--instance) (coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix))
          (with-temp-file file
            (insert-file-contents file)
            (goto-char (point-min))
            (search-forward "question 2")
            (replace-match "rewritten!!" t t))
          (pi-test-until (pi-test-shows "rewritten!!"))
          (should-not (equal before pi-daemon--instance)))
        (pi-test-append session (pi-test-user "after that"))
        (pi-test-until (pi-test-shows "after that"))))))

(ert-deftest pi-test-tree-windows-stay-where-they-are ()
  (let* ((session (pi-test-create)))
    (dotimes (turn 30)
      (pi-test-append session (pi-test-user (format "q%d" turn)))
      (pi-test-call "session/moveLeaf" :sessionId session :entryId nil))
    (pi-test-with-tree session
      (let ((window (get-buffer-window)))
        (select-window window)
        (goto-char (point-min))
        (forward-line 30)
        (let ((id (plist-get (pi-daemon-tree-node) :id)))
          (set-window-start window (save-excursion (forward-line -3) (point)))
          (pi-test-append session (pi-test-user "one more"))
          (pi-test-until (pi-test-shows "one more"))
          (should (equal id (plist-get (pi-daemon-tree-node) :id)))
          (should (= (window-start window) (save-excursion (forward-line -3) (point)))))))))

(ert-deftest pi-test-tree-folds-and-unfolds ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 20)))
    (pi-test-with-tree session
      (should-not (pi-test-shows (nth 10 ids)))
      (goto-char (point-min))
      (re-search-forward "^⋮ \\([0-9]+\\) more")
      (should-error (pi-test-key "m") :type 'user-error)
      (pi-test-key "TAB")
      (should (pi-test-shows (nth 10 ids)))
      (should (equal (nth 4 ids) (plist-get (pi-daemon-tree-node) :id)))
      (pi-test-key "TAB")
      (should-not (pi-test-shows (nth 10 ids)))
      (should (pi-test-shows (nth 4 ids)))
      (pi-test-key "t")
      (should (pi-test-shows (nth 10 ids)))
      (pi-test-key "t")
      ;; The entry at point is never folded away, however long the stretch becomes.
      (pi-test-go (nth 39 ids))
      (pi-test-talk session 10)
      (pi-test-until (pi-test-shows "<leaf> answer 10"))
      (should (equal (nth 39 ids) (plist-get (pi-daemon-tree-node) :id)))
      (pi-test-key ".")
      (should (pi-test-shows "<leaf>"))
      (pi-test-key "^")
      (should (equal "user" (plist-get (pi-daemon-tree-node) :role)))
      (dotimes (_ 5)
        (pi-test-key "M-p"))
      ;; That one had been folded away.
      (should (equal "question 5" (plist-get (pi-daemon-tree-node) :preview)))
      (pi-test-key "M-n")
      (should (equal "question 6" (plist-get (pi-daemon-tree-node) :preview)))
      (goto-char (point-min))
      (should-error (pi-test-key "M-p") :type 'user-error))))

(ert-deftest pi-test-tree-of-a-session-that-goes-away ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 1)))
    (pi-test-with-tree session
      (delete-file (plist-get pi-daemon-session-state :path))
      (pi-test-until (string-match-p "deleted" header-line-format))
      (pi-test-go (nth 0 ids))
      (should-error (pi-test-key "m") :type 'user-error)
      (pi-test-key "g")
      (pi-test-until (string-match-p "gone" header-line-format)))))

(ert-deftest pi-test-tree-takes-any-text ()
  (let* ((session (pi-test-create)) answer)
    (setq answer
          (pi-test-peer
           (format "{\"method\":\"session/append\",\"params\":{\"sessionId\":%S,\"entries\":[{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"provider\":\"p\",\"model\":\"m\",\"stopReason\":\"stop\",\"timestamp\":1,\"content\":[{\"type\":\"text\",\"text\":\"half \\ud83d \\u202e \\u001b[2J \\u0000 %%s\\nline\"},{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"x\",\"arguments\":{\"n\":123456789012345678901234567890,\"deep\":%s,\"code\":\"a\\nb\"}}]}}]}}"
                   session (concat (make-string 300 ?\[) (make-string 300 ?\])))))
    (should (plist-get answer :result))
    (pi-test-with-tree session
      (should (= 2 (count-lines (point-min) (point-max))))
      (pi-test-key "RET")
      (pi-test-until (get-buffer "*pi entry*"))
      (with-current-buffer "*pi entry*"
        (should (pi-test-shows "half \ufffd <U\\+202E> ␛\\[2J ␀ %s\nline"))
        (should (pi-test-shows "- n: 123456789012345678901234567890"))
        (should (pi-test-shows "- code: \n    a\n    b")))
      (pi-test-key "x")
      (pi-test-until (get-buffer "*pi context*"))
      (with-current-buffer "*pi context*"
        (should (pi-test-shows "half \ufffd"))))))

;;; test-tree.el ends here
