;;; pi-daemon-client.el --- Emacs's one connection to pi-daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Requests, which never block, and the connection that they go over: it is made when it is needed, and again when it
;; was lost.  Requests made meanwhile wait for it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'pi-daemon-errors)
(require 'pi-daemon-text)
(require 'pi-daemon-wire)

(defgroup pi-daemon nil
  "Sessions of the pi coding agent, as pi-daemon has them."
  :group 'tools
  :prefix "pi-daemon-")

(defcustom pi-daemon-command '("pi-daemon" "connect")
  "The program that connects to the daemon, and its arguments.
It starts the daemon where none runs."
  :type '(repeat string))

(defcustom pi-daemon-socket nil
  "The Unix socket of a running daemon, to connect to it without a program.
Nil: use `pi-daemon-command'."
  :type '(choice (const :tag "Use pi-daemon-command" nil) file))

(defcustom pi-daemon-retry-seconds '(0.1 0.3 1 2 5)
  "Seconds between the attempts to connect again; the last one goes on."
  :type '(repeat number))

(defcustom pi-daemon-patience 10
  "Seconds after which the echo area says that an answer is still awaited."
  :type 'number)

(cl-defstruct (pi-daemon-request (:constructor pi-daemon-request--make) (:copier nil))
  "A request: METHOD with PARAMS, made in BUFFER.
THEN and ELSE are called with its outcome."
  method params then else progress buffer id timer over)

(defvar pi-daemon-state 'closed
  "`closed', `connecting', `ready', `lost' (tried again by itself) or `failed'.")

(defvar pi-daemon-features nil
  "What the daemon said in `initialize' it can do, a plist.")

(defvar pi-daemon-lost-reason nil
  "Why the connection was lost or couldn't be made, in words.")

(defvar pi-daemon-told-functions nil
  "Called with a notification's method, a string, and its parameters.")

(defvar pi-daemon-connected-functions nil
  "Called without arguments when there is another daemon or connection.")

(defvar pi-daemon-state-functions nil
  "Called without arguments when `pi-daemon-state' has changed.")

(defvar pi-daemon-wanted-functions nil
  "Called without arguments.
Where one gives non-nil a lost connection is made again.")

(defvar pi-daemon--wire nil "The connection, if there is one.")
(defvar pi-daemon--waiting nil "Requests that wait for a connection, the last first.")
(defvar pi-daemon--flying nil "Requests that wait for their answers.")
(defvar pi-daemon--attempts 0 "How often connecting has failed since it last did not.")
(defvar pi-daemon--timer nil "Runs the next attempt.")
(defvar pi-daemon--tokens 0 "Tokens of progress that were given out.")

;;; Requests

(cl-defun pi-daemon-request (method params then &key else progress)
  "Send the request METHOD with PARAMS, a plist; nil in it is null.
THEN is called with the result, ELSE with the error, a plist with
`:message' and `:reason', both in the buffer that is current now,
unless that was killed.  Without ELSE the echo area shows the error.
PROGRESS is called with what the daemon reports of it.  Return what
`pi-daemon-cancel' takes."
  (let* ((token (and progress (format "emacs-%d" (cl-incf pi-daemon--tokens))))
         (request (pi-daemon-request--make
                   :method method :params (if token `(,@params :workDoneToken ,token) params)
                   :then then :else (or else #'pi-daemon-complain) :progress (and token (cons token progress))
                   :buffer (current-buffer))))
    (setf (pi-daemon-request-timer request)
          (unless progress
            (run-at-time pi-daemon-patience nil #'message "pi-daemon: still waiting for %s..." method)))
    (if (eq pi-daemon-state 'ready)
        (pi-daemon--send request)
      (push request pi-daemon--waiting)
      (unless (memq pi-daemon-state '(connecting lost))
        (pi-daemon-connect)))
    request))

(defun pi-daemon-cancel (request)
  "Have the daemon stop REQUEST, which then comes to the error `cancelled'."
  (when (and (memq request pi-daemon--flying) (eq pi-daemon-state 'ready))
    (jsonrpc-notify pi-daemon--wire '$/cancelRequest (list :id (pi-daemon-request-id request)))))

(defun pi-daemon--send (request)
  "Send REQUEST over the connection, which is ready."
  (push request pi-daemon--flying)
  (condition-case failure
      (progn
        (jsonrpc-async-request pi-daemon--wire (intern (pi-daemon-request-method request))
                               (pi-daemon-request-params request)
                               :timeout nil
                               :success-fn (lambda (result) (pi-daemon--over request result nil))
                               :error-fn (lambda (error) (pi-daemon--over request nil (pi-daemon-errors-of error))))
        (setf (pi-daemon-request-id request) (pi-daemon-wire-last-id pi-daemon--wire)))
    (error
     (pi-daemon--over request nil (list :reason "notSent" :message (error-message-string failure))))))

(defun pi-daemon--over (request result error)
  "REQUEST has come to RESULT or ERROR."
  (unless (pi-daemon-request-over request)
    (setf (pi-daemon-request-over request) t
          pi-daemon--flying (delq request pi-daemon--flying))
    (when-let ((timer (pi-daemon-request-timer request)))
      (cancel-timer timer))
    (when (buffer-live-p (pi-daemon-request-buffer request))
      (with-current-buffer (pi-daemon-request-buffer request)
        (if error
            (funcall (pi-daemon-request-else request) error)
          (funcall (pi-daemon-request-then request) result))))))

(defun pi-daemon-wait (done what)
  "Wait until DONE gives non-nil, and return that; quitting ends it.
WHAT is said in the echo area meanwhile.  For questions to the user, who
needs the answer before."
  (let ((said nil) (begun (float-time)) found)
    (while (not (setq found (funcall done)))
      (when (and (not said) (> (- (float-time) begun) 0.5))
        (setq said t)
        (message "%s..." what))
      (accept-process-output nil 0.1))
    found))

;;; The connection

(defun pi-daemon-connect ()
  "Connect to the daemon, unless that is done already.
Signals a `user-error' where that can't even be tried."
  (interactive)
  (unless (memq pi-daemon-state '(connecting ready))
    (when pi-daemon--timer
      (cancel-timer pi-daemon--timer)
      (setq pi-daemon--timer nil))
    (condition-case failure
        (let ((process (if pi-daemon-socket
                           (pi-daemon-wire-socket pi-daemon-socket)
                         (pi-daemon-wire-program pi-daemon-command))))
          (setq pi-daemon--wire
                (pi-daemon-wire :name "pi-daemon" :process process :lost #'pi-daemon--lost
                                :notification-dispatcher #'pi-daemon--told))
          (pi-daemon--become 'connecting)
          (pi-daemon--initialize))
      (file-error
       (let ((reason (pi-daemon--unreachable failure)))
         (if (and pi-daemon-socket (pi-daemon--wanted-p) (> pi-daemon--attempts 0))
             (pi-daemon--try-again reason)
           (pi-daemon--fail reason)
           (user-error "%s" reason)))))))

(defun pi-daemon--unreachable (failure)
  "What to do about FAILURE to begin, a `file-error'."
  (let ((what (error-message-string failure)))
    (if pi-daemon-socket
        (format "No daemon at %s: start `pi-daemon serve', or set `pi-daemon-socket' to nil (%s)" pi-daemon-socket what)
      (format "%s can't be run: install pi-daemon, or set `pi-daemon-command' to where it is (%s)"
              (car pi-daemon-command) what))))

(defun pi-daemon--initialize ()
  "Say who we are; what waits is sent once the daemon has answered."
  (let ((wire pi-daemon--wire))
    (jsonrpc-async-request
     wire 'initialize
     (list :processId (emacs-pid)
           :clientInfo (list :name "Emacs" :version emacs-version)
           :initializationOptions '(:piDaemon (:protocolVersion 1)))
     :timeout nil
     :success-fn (lambda (result)
                   (when (eq wire pi-daemon--wire)
                     (jsonrpc-notify wire 'initialized nil)
                     (pi-daemon--ready result)))
     :error-fn (lambda (error)
                 (when (eq wire pi-daemon--wire)
                   (pi-daemon-wire-close wire)
                   (setq pi-daemon--wire nil)
                   (let ((said (pi-daemon-error-text (pi-daemon-errors-of error))))
                     (if (and (pi-daemon--wanted-p) (> pi-daemon--attempts 0))
                         (pi-daemon--try-again said)
                       (pi-daemon--fail said))))))))

(defun pi-daemon--ready (result)
  "The daemon has answered `initialize' with RESULT."
  (let ((daemon (plist-get (plist-get (plist-get result :capabilities) :experimental) :piDaemon))
        (waiting (reverse pi-daemon--waiting)))
    (setq pi-daemon-features (plist-get daemon :features)
          pi-daemon--attempts 0
          pi-daemon-lost-reason nil
          pi-daemon--waiting nil)
    (pi-daemon--become 'ready)
    (run-hooks 'pi-daemon-connected-functions)
    (mapc #'pi-daemon--send waiting)))

(defun pi-daemon--told (_wire method params)
  "Take the notification METHOD with PARAMS."
  (pcase (symbol-name method)
    ("$/progress" (pi-daemon--progress (plist-get params :token) (plist-get params :value)))
    ("daemon/replaced" (run-hooks 'pi-daemon-connected-functions))
    (name (run-hook-with-args 'pi-daemon-told-functions name params))))

(defun pi-daemon--progress (token value)
  "Tell the request with TOKEN of VALUE, how far it is."
  (when-let ((request (cl-find-if (lambda (one) (equal token (car (pi-daemon-request-progress one))))
                                  pi-daemon--flying)))
    (when (buffer-live-p (pi-daemon-request-buffer request))
      (with-current-buffer (pi-daemon-request-buffer request)
        (funcall (cdr (pi-daemon-request-progress request)) value)))))

(defun pi-daemon--lost (reason)
  "The connection has ended; REASON is why, in words."
  (setq pi-daemon--wire nil)
  (let ((flying pi-daemon--flying))
    (cond
     ;; A program that ends before it ever connected would do so again.
     ((and (eq pi-daemon-state 'connecting) (zerop pi-daemon--attempts))
      (pi-daemon--fail (format "%s ended at once: %s" (or pi-daemon-socket (string-join pi-daemon-command " "))
                               (pi-daemon-text-line reason))))
     ((or pi-daemon--waiting (pi-daemon--wanted-p)) (pi-daemon--try-again reason))
     (t (pi-daemon--become 'closed)))
    (dolist (request flying)
      (pi-daemon--over request nil (list :reason "connectionLost"
                                         :message (format "The connection was lost (%s)" reason))))))

(defun pi-daemon--try-again (reason)
  "Connect again after a pause, because of REASON."
  (let ((pauses pi-daemon-retry-seconds))
    (setq pi-daemon-lost-reason reason
          pi-daemon--timer (run-at-time (or (nth pi-daemon--attempts pauses) (car (last pauses)) 1) nil
                                        #'pi-daemon--attempt))
    (cl-incf pi-daemon--attempts)
    (pi-daemon--become 'lost)))

(defun pi-daemon--attempt ()
  "Try to connect again; nobody is there to be told of an error."
  (setq pi-daemon--timer nil)
  (when (eq pi-daemon-state 'lost)
    (condition-case failure
        (pi-daemon-connect)
      (user-error (message "%s" (error-message-string failure))))))

(defun pi-daemon--fail (reason)
  "Have no connection because of REASON, until one is asked for."
  (setq pi-daemon-lost-reason reason
        pi-daemon--attempts 0)
  (pi-daemon--become 'failed)
  (let ((waiting (reverse pi-daemon--waiting)))
    (setq pi-daemon--waiting nil)
    (dolist (request waiting)
      (pi-daemon--over request nil (list :reason "noConnection" :message reason)))))

(defun pi-daemon--wanted-p ()
  "Whether anything here needs the connection."
  (run-hook-with-args-until-success 'pi-daemon-wanted-functions))

(defun pi-daemon--become (state)
  "The connection is in STATE from now on."
  (unless (eq state pi-daemon-state)
    (setq pi-daemon-state state)
    (run-hooks 'pi-daemon-state-functions)))

(defun pi-daemon-disconnect ()
  "End the connection to the daemon, which stays without Emacs."
  (interactive)
  (when pi-daemon--timer
    (cancel-timer pi-daemon--timer))
  (setq pi-daemon--timer nil)
  (when pi-daemon--wire
    (pi-daemon-wire-close pi-daemon--wire))
  (setq pi-daemon--wire nil)
  (pi-daemon--become 'closed)
  (dolist (request (append pi-daemon--flying (reverse pi-daemon--waiting)))
    (pi-daemon--over request nil '(:reason "cancelled" :message "Disconnected")))
  (setq pi-daemon--flying nil
        pi-daemon--waiting nil))

(provide 'pi-daemon-client)

;;; pi-daemon-client.el ends here
