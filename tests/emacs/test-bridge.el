;;; test-bridge.el --- Daemons that die behind `pi-daemon connect'  -*- lexical-binding: t; -*-

;;; Code:

(require 'helper)

(ert-deftest pi-test-bridge-a-killed-daemon-is-replaced ()
  (let* ((session (pi-test-create)) (ids (pi-test-talk session 2)))
    (pi-test-with-tree session
      (let ((wire pi-daemon--wire) (instance pi-daemon--instance))
        (pi-test-go (nth 1 ids))
        (pi-test-peer '(:kill t))
        (pi-test-append session (pi-test-user "after the kill"))
        (pi-test-until (pi-test-shows "<leaf> after the kill"))
        (should (eq wire pi-daemon--wire))
        (should-not (equal instance pi-daemon--instance))
        (should (equal (nth 1 ids) (plist-get (pi-daemon-tree-node) :id)))
        ;; And it is followed on.
        (pi-test-append session (pi-test-user "and on"))
        (pi-test-until (pi-test-shows "<leaf> and on"))
        (pi-test-key "m")
        (pi-test-until (pi-test-shows "<leaf> answer 1"))))))

(ert-deftest pi-test-bridge-that-dies-is-started-again ()
  (let* ((session (pi-test-create)) (pi-daemon-retry-seconds '(0.01)))
    (pi-test-talk session 1)
    (pi-test-with-tree session
      (let ((wire pi-daemon--wire))
        (signal-process (pi-daemon-wire-process wire) 'SIGKILL)
        (pi-test-until (not (eq wire pi-daemon--wire)))
        (pi-test-append session (pi-test-user "meanwhile"))
        (pi-test-until (and (eq pi-daemon-state 'ready) (pi-test-shows "<leaf> meanwhile")))))))

(ert-deftest pi-test-bridge-ends-with-the-last-tree ()
  (let* ((one (pi-test-create)) (two (pi-test-create)) wire)
    (pi-test-talk one 1)
    (pi-test-with-tree one
      (setq wire pi-daemon--wire)
      (pi-daemon-open two)
      (kill-buffer (pi-test-until (pi-daemon-follow-buffer two)))
      (should (eq pi-daemon-state 'ready)))
    (should (eq pi-daemon-state 'closed))
    (should-not (process-live-p (pi-daemon-wire-process wire)))
    (should-not (cl-find-if (lambda (buffer) (string-prefix-p " *pi-daemon" (buffer-name buffer))) (buffer-list)))))

(ert-deftest pi-test-bridge-that-cannot-be-run ()
  (let ((pi-daemon-command '("no-such-program-here" "connect")))
    (let ((said (cadr (should-error (pi-daemon-connect) :type 'user-error))))
      (should (string-match-p "no-such-program-here can't be run: install pi-daemon, or set `pi-daemon-command'" said)))
    (should-error (pi-daemon) :type 'user-error)
    (should (eq pi-daemon-state 'failed))
    (should-not pi-daemon--waiting))
  (let ((pi-daemon-command '("sh" "-c" "echo it broke >&2; exit 3")))
    (should (string-match-p "it broke" (cadr (should-error (pi-daemon) :type 'user-error)))))
  (pi-daemon-disconnect))

;;; test-bridge.el ends here
