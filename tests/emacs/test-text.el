;;; test-text.el --- What needs no daemon  -*- lexical-binding: t; -*-

;;; Code:

(require 'helper)

(defvar eglot-server-programs)

(ert-deftest pi-test-text-is-harmless ()
  (should (equal (pi-daemon-text-line "a\n\tb \e[31m \u202e\u0085") "a b ␛[31m <U+202E><U+0085>"))
  (should (equal (pi-daemon-text-line (string ?a #xd83d ?b)) "a\ufffdb"))
  (should (equal (pi-daemon-text-line (propertize "x" 'display "y")) "x"))
  (should-not (text-properties-at 0 (pi-daemon-text-line (propertize "x" 'display "y"))))
  (should (equal (pi-daemon-text-line (make-string 100 ?x) 10) "xxxxxxxxx…"))
  (should (equal (pi-daemon-text-line nil) ""))
  (should (equal (pi-daemon-text-block "\n\n  a\r\nb\0c\n\n") "  a\nb␀c")))

(ert-deftest pi-test-text-long-lines-are-broken ()
  (let ((shown (pi-daemon-text-block (make-string 1000001 ?x))))
    (should (< (apply #'max (mapcar #'length (split-string shown "\n"))) 600))
    (should (= 1000001 (cl-count ?x shown)))))

(ert-deftest pi-test-text-numbers ()
  (should (equal (mapcar #'pi-daemon-text-number '(0 999 1000 1234567 -1000 nil)) '("0" "999" "1,000" "1,234,567" "-1,000" "?")))
  (should (equal (pi-daemon-text-count 1 "entry" "entries") "1 entry"))
  (should (equal (pi-daemon-text-count 2000 "entry" "entries") "2,000 entries")))

(ert-deftest pi-test-text-messages-that-emacs-cannot-read ()
  (let ((read (lambda (json) (pi-daemon-wire--decoded (encode-coding-string json 'utf-8 t)))))
    (should (equal (funcall read "{\"a\":[1,null,false,true,\"ü😀\"]}")
                   '(:a [1 nil :json-false t "ü😀"])))
    (should (equal (funcall read "{\"a\":\"\\ud83d\",\"b\":null,\"c\":false}")
                   (list :a (string #xd83d) :b nil :c :json-false)))
    (should (equal (funcall read "{\"a\":123456789012345678901234567890}") '(:a 123456789012345678901234567890)))
    (should (funcall read (concat (make-string 499 ?\[) "\"\\ud83d\"" (make-string 499 ?\]))))))

(defun pi-test-nodes (count)
  "So many nodes in a row."
  (apply #'vector
         (cl-loop for n from 1 to count
                  collect (list :id (number-to-string n) :parentId (and (> n 1) (number-to-string (1- n)))
                                :type "custom" :onPath t))))

(defun pi-test-row-names (rows)
  "Ids of ROWS, numbers for those that are folded."
  (mapcar (lambda (row) (if (pi-daemon-row-folded row) (length (pi-daemon-row-folded row))
                          (plist-get (pi-daemon-row-node row) :id)))
          rows))

(ert-deftest pi-test-rows-fold-what-is-straight ()
  (let ((kept (make-hash-table :test #'equal)))
    (should (equal (pi-test-row-names (pi-daemon-rows (pi-test-nodes 30) "30" t kept))
                   '("1" "2" "3" "4" 20 "25" "26" "27" "28" "29" "30")))
    (puthash "10" t kept)
    (should (equal (pi-test-row-names (pi-daemon-rows (pi-test-nodes 30) "30" t kept))
                   '("1" "2" "3" "4" 5 "10" 14 "25" "26" "27" "28" "29" "30")))
    (should (= 30 (length (pi-daemon-rows (pi-test-nodes 30) "30" nil kept))))
    (should-not (pi-daemon-rows [] nil t kept))))

(ert-deftest pi-test-rows-are-not-recursive ()
  (should (< (length (pi-daemon-rows (pi-test-nodes 20000) "20000" t (make-hash-table :test #'equal))) 20)))

(ert-deftest pi-test-why-has-words-for-each-reason ()
  (pcase-dolist (`(,reason ,_ ,member) pi-daemon-why--reasons)
    (should (string-match-p "\\`12345678 is not in the model's context: .+\\.\\'"
                            (pi-daemon-why-sentence `(:id "123456789" :inContext :json-false :reason ,reason
                                                          ,@(and member (list member "x")))))))
  (should (equal (pi-daemon-why-sentence '(:id "a" :inContext t :reason "asStored" :sentIndex 2))
                 "a is in the model's context (message 3): as it is stored.")))

(ert-deftest pi-test-keys-have-commands ()
  (pcase-dolist (`(,key ,command ,what) pi-daemon-keys)
    (should (commandp command))
    (should (stringp what))
    (should (eq command (lookup-key pi-daemon-tree-mode-map (kbd key))))))

(ert-deftest pi-test-session-files-for-eglot ()
  (require 'pi-daemon-jsonl)
  (let ((file (make-temp-file "session" nil ".jsonl" "{}\n")) (eglot-server-programs nil) (pi-daemon-command '("a" "b")))
    (unwind-protect
        (with-current-buffer (find-file-noselect file)
          (pi-daemon-jsonl-mode)
          (should buffer-read-only)
          (should truncate-lines)
          (should (eq (key-binding (kbd "C-c C-t")) 'pi-daemon-jsonl-tree))
          (kill-buffer))
      (delete-file file))
    ;; Emacs 28 has no eglot, and nobody but the user gets it.
    (let ((said nil) (load-path nil) (begun nil))
      (cl-letf (((symbol-function 'eglot-ensure) nil)
                ((symbol-function 'message) (lambda (&rest words) (setq said (apply #'format words)))))
        (pi-daemon-jsonl-eglot)
        (should (string-match-p "package-install RET eglot" said)))
      (cl-letf (((symbol-function 'eglot-ensure) (lambda () (setq begun t))))
        (pi-daemon-jsonl-eglot)
        (should begun)))
    ;; As when eglot is loaded.
    (provide 'eglot)
    (should (equal eglot-server-programs '((pi-daemon-jsonl-mode "a" "b"))))))

;;; test-text.el ends here
