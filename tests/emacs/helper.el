;;; helper.el --- What the tests in Emacs have in common  -*- lexical-binding: t; -*-

;;; Commentary:

;; Every wait is bounded and is for a condition.  The other client is `peer.py'.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'json)
(require 'pi-daemon)

(defconst pi-test-patience 30 "Seconds that anything here may take on a machine with other work to do.")

(defvar pi-test-said nil "What `message' said, the last first.")
(defvar pi-test--peer nil "The other client.")

(defun pi-test-note (format &rest arguments)
  "Note what `message' is called with: FORMAT and ARGUMENTS."
  (when format
    (push (substring-no-properties (apply #'format-message format arguments)) pi-test-said)))

(advice-add 'message :before #'pi-test-note)

(defmacro pi-test-until (&rest condition)
  "Let processes and timers run until CONDITION gives non-nil, and give that."
  `(pi-test--until (lambda () ,@condition) ',(car condition)))

(defun pi-test--until (condition what)
  "Wait for CONDITION, whose text is WHAT."
  (let ((end (+ (float-time) pi-test-patience)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end)
        (error "It never came to %S; said: %S; in %s:\n%s" what (seq-take pi-test-said 5) (buffer-name)
               (substring-no-properties (buffer-string))))
      (accept-process-output nil 0.05))
    found))

(defun pi-test-said (regexp)
  "Whether `message' has said what matches REGEXP since that was cleared."
  (cl-find-if (lambda (said) (string-match-p regexp said)) pi-test-said))

;;; The other client

(defun pi-test-peer (message)
  "Send MESSAGE, a plist or JSON, to the other client and give its answer, a plist."
  (unless (process-live-p pi-test--peer)
    (setq pi-test--peer
          (make-process :name "peer" :buffer (generate-new-buffer "peer") :connection-type 'pipe :coding 'utf-8-unix
                        :noquery t :stderr (get-buffer-create "peer stderr")
                        :command (list (getenv "PI_TEST_PYTHON") (getenv "PI_TEST_PEER")))))
  (let ((buffer (process-buffer pi-test--peer)))
    (with-current-buffer buffer (erase-buffer))
    (process-send-string pi-test--peer (concat (if (stringp message) message (json-serialize message :null-object nil :false-object :json-false)) "\n"))
    (with-current-buffer buffer
      (pi-test-until (or (string-suffix-p "\n" (buffer-string)) (not (process-live-p pi-test--peer))))
      (unless (process-live-p pi-test--peer)
        (error "The other client ended: %s" (with-current-buffer "peer stderr" (buffer-string))))
      (json-parse-string (buffer-string) :object-type 'plist :null-object nil :false-object :json-false))))

(defun pi-test-call (method &rest params)
  "The result of METHOD with PARAMS, of the other client."
  (let ((answer (pi-test-peer (list :method method :params params))))
    (when (plist-get answer :error)
      (error "%s: %S" method (plist-get answer :error)))
    (plist-get answer :result)))

(defun pi-test-create (&optional name)
  "A new session called NAME, in a file; its id."
  (plist-get (apply #'pi-test-call "session/create" :cwd "/home/me/project" :persist "immediate"
                    (and name (list :name name)))
             :sessionId))

(defun pi-test-message (role text &rest more)
  "A draft of a message of ROLE with TEXT, and MORE of its members."
  (list :type "message"
        :message (append (list :role role :content (vector (list :type "text" :text text)) :timestamp 1767225600000)
                         more)))

(defconst pi-test-answer '(:provider "p" :model "m" :stopReason "stop"
                           :usage (:input 900 :output 20 :cacheRead 0 :cacheWrite 0 :totalTokens 920))
  "What an answer has beside its text.")

(defun pi-test-user (text)
  "A draft of a user's message with TEXT."
  (pi-test-message "user" text))

(defun pi-test-assistant (text)
  "A draft of an answer with TEXT."
  (apply #'pi-test-message "assistant" text pi-test-answer))

(defun pi-test-append (session &rest drafts)
  "Append DRAFTS to SESSION; their ids."
  (mapcar (lambda (entry) (plist-get entry :id))
          (plist-get (pi-test-call "session/append" :sessionId session :entries (vconcat drafts)) :entries)))

(defun pi-test-talk (session turns)
  "Append so many TURNS to SESSION; the ids."
  (apply #'pi-test-append session
         (cl-loop for turn from 1 to turns
                  collect (pi-test-user (format "question %d" turn))
                  collect (pi-test-assistant (format "answer %d" turn)))))

;;; The tree

(defmacro pi-test-with-tree (session &rest body)
  "Show SESSION, run BODY in its tree once that was read, and close it."
  (declare (indent 1))
  `(let ((buffer (pi-test-open ,session)))
     (unwind-protect
         (with-current-buffer buffer ,@body)
       (pi-test-close buffer))))

(defun pi-test-open (session)
  "Show SESSION; the buffer, once the tree was read."
  (setq pi-test-said nil)
  (delete-other-windows)
  (pi-daemon-open session)
  (let ((buffer (pi-test-until (pi-daemon-follow-buffer session))))
    (with-current-buffer buffer
      (pi-test-until (and (not pi-daemon--reading) pi-daemon-stats)))
    buffer))

(defun pi-test-close (buffer)
  "Kill BUFFER, and what else a test may have opened."
  (let ((kill-buffer-query-functions nil))
    (dolist (one (cons buffer (buffer-list)))
      (when (and (buffer-live-p one) (string-match-p "\\`\\*pi" (buffer-name one)))
        (kill-buffer one)))))

(defun pi-test-key (key)
  "Do what KEY does here."
  (let ((command (key-binding (kbd key))))
    (should (commandp command))
    (let ((current-prefix-arg nil))
      (call-interactively command))))

(defun pi-test-key-with-prefix (key)
  "Do what KEY does here after a \\[universal-argument]."
  (let ((current-prefix-arg '(4)))
    (call-interactively (key-binding (kbd key)))))

(defun pi-test-lines ()
  "The lines of the tree, each from its mark on, without those below it."
  (let ((text (substring-no-properties (buffer-string))))
    (butlast (split-string text "\n"))))

(defun pi-test-shows (regexp)
  "Whether this buffer has what matches REGEXP."
  (string-match-p regexp (buffer-string)))

(defun pi-test-go (id)
  "Go to the entry ID."
  (should (pi-daemon-tree-reveal id))
  (should (equal id (plist-get (pi-daemon-tree-node) :id))))

(defun pi-test-header ()
  "The header line."
  (format-mode-line header-line-format))

(provide 'helper)

;;; helper.el ends here
