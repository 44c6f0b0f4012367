;;; test-socket.el --- Straight to the daemon's socket  -*- lexical-binding: t; -*-

;;; Code:

(require 'helper)

(defvar pi-test--daemon nil "The daemon, which is Emacs's own here.")

(defun pi-test-serve ()
  "Start the daemon, and wait until it listens."
  (setq pi-test--daemon
        (make-process :name "daemon" :buffer nil :noquery t :connection-type 'pipe
                      :stderr (get-buffer-create "daemon stderr")
                      :command (append (json-parse-string (getenv "PI_TEST_SERVE") :array-type 'list) nil)))
  (pi-test-until (ignore-errors (delete-process (make-network-process :name "probe" :family 'local
                                                                      :service (getenv "PI_TEST_SOCKET")))
                                t)))

(defmacro pi-test-at-socket (&rest body)
  "Run BODY with a daemon of its own, that is reached at its socket."
  `(let ((pi-daemon-socket (getenv "PI_TEST_SOCKET")))
     (pi-test-serve)
     (unwind-protect
         (progn ,@body)
       (pi-daemon-disconnect)
       (signal-process pi-test--daemon 'SIGKILL)
       (pi-test-until (not (process-live-p pi-test--daemon))))))

(ert-deftest pi-test-socket-without-a-daemon ()
  (let ((pi-daemon-socket (getenv "PI_TEST_SOCKET")))
    (should (string-match-p "start `pi-daemon serve', or set `pi-daemon-socket' to nil"
                            (cadr (should-error (pi-daemon) :type 'user-error))))
    (should-not pi-daemon--timer)))

(ert-deftest pi-test-socket-a-lost-connection-catches-up-without-reading-all ()
  (pi-test-at-socket
   (let* ((session (pi-test-create)) (pi-daemon-retry-seconds '(1000)))
     (pi-test-talk session 1)
     (pi-test-with-tree session
       (let ((taken nil) (reopened nil))
         (delete-process (pi-daemon-wire-process pi-daemon--wire))
         (pi-test-until (eq pi-daemon-state 'lost))
         (should (string-match-p "connection lost, trying again" header-line-format))
         (pi-test-append session (pi-test-user "missed"))
         (pi-test-call "session/rename" :sessionId session :name "renamed meanwhile")
         (cl-letf* ((take (symbol-function 'pi-daemon-follow--take))
                    ((symbol-function 'pi-daemon-follow--take)
                     (lambda (method params) (push method taken) (funcall take method params)))
                    ((symbol-function 'pi-daemon-follow-reopen) (lambda () (setq reopened t))))
           (pi-daemon--attempt)
           (pi-test-until (pi-test-shows "missed"))
           (pi-test-until (string-prefix-p "renamed meanwhile" header-line-format)))
         (should-not reopened)
         (should (member "session/appended" taken))
         (should (member "session/renamed" taken))
         (should-not (string-match-p "lost" header-line-format)))))))

(ert-deftest pi-test-socket-a-killed-daemon-is-tried-again-until-it-is-there ()
  (pi-test-at-socket
   (let* ((session (pi-test-create)) (pi-daemon-retry-seconds '(0.01 0.05)))
     (pi-test-talk session 1)
     (pi-test-with-tree session
       (setq pi-test-said nil)
       (signal-process pi-test--daemon 'SIGKILL)
       (pi-test-until (> pi-daemon--attempts 3))
       (should (string-match-p "connection lost" header-line-format))
       ;; What is asked for meanwhile waits.
       (pi-test-key "RET")
       (pi-test-serve)
       (pi-test-until (eq pi-daemon-state 'ready))
       (pi-test-until (get-buffer "*pi entry*"))
       (pi-test-append session (pi-test-user "after the kill"))
       (pi-test-until (pi-test-shows "<leaf> after the kill"))
       (should (= 0 pi-daemon--attempts))
       (should-not pi-test-said)))))

(ert-deftest pi-test-socket-a-request-under-way-is-answered ()
  (pi-test-at-socket
   (let* ((session (pi-test-create)) (pi-daemon-retry-seconds '(1000)))
     (pi-test-talk session 1)
     (pi-test-with-tree session
       (signal-process pi-test--daemon 'SIGSTOP)
       (setq pi-test-said nil)
       (pi-test-key "x")
       (signal-process pi-test--daemon 'SIGKILL)
       (pi-test-until (pi-test-said "connection was lost .*look at the tree"))
       (pi-daemon-disconnect)
       (should (string-match-p "not connected: g connects" header-line-format))
       (pi-test-serve)
       (pi-test-key "g")
       (pi-test-until (and (eq pi-daemon-state 'ready) (not (string-match-p "connect" header-line-format))))))))

;;; test-socket.el ends here
