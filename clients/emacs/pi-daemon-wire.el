;;; pi-daemon-wire.el --- Messages of pi-daemon over a process  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A connection of jsonrpc.el that speaks the base protocol of language servers over any process of Emacs: a program
;; (`pi-daemon connect') or a socket.
;;
;; It isn't a `jsonrpc-process-connection', because that one loses messages that Emacs's own JSON reader can't take,
;; such as half surrogate pairs and integers of thirty digits, which sessions hold.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'json)
(require 'jsonrpc)

(defclass pi-daemon-wire (jsonrpc-connection)
  ((process :initarg :process :accessor pi-daemon-wire-process
            :documentation "The program or the socket.")
   (lost :initarg :lost :initform #'ignore :accessor pi-daemon-wire-lost
         :documentation "Called once, with the reason, when the process has ended.")
   (input :accessor pi-daemon-wire-input
          :documentation "Buffer of bytes that came and weren't read.")
   (expected :initform nil :accessor pi-daemon-wire-expected
             :documentation "Bytes of the message whose header was read.")
   (last-id :initform nil :accessor pi-daemon-wire-last-id
            :documentation "Id of the last request that was sent.")
   ;; No log of what is said: sessions are large and private.  The one slot is of older versions of jsonrpc.el, the
   ;; other of newer ones.
   (-events-buffer-scrollback-size :initform 0)
   (-events-buffer-config :initform '(:size 0)))
  "A connection to a daemon over a process.")

(cl-defmethod initialize-instance :after ((wire pi-daemon-wire) &rest _)
  "Let WIRE read from its process."
  (let ((process (pi-daemon-wire-process wire))
        (input (generate-new-buffer " *pi-daemon input*" t)))
    (with-current-buffer input
      (buffer-disable-undo)
      (set-buffer-multibyte nil))
    (setf (pi-daemon-wire-input wire) input)
    (process-put process 'pi-daemon-wire wire)
    (set-process-coding-system process 'binary 'binary)
    (set-process-query-on-exit-flag process nil)
    (set-process-filter process #'pi-daemon-wire--filter)
    (set-process-sentinel process #'pi-daemon-wire--sentinel)))

(defun pi-daemon-wire-program (command)
  "Start COMMAND, a list of a program and its arguments, as a process.
Signals a `file-error' where there is no such program."
  (let ((default-directory (expand-file-name "~/"))
        (complaints (generate-new-buffer " *pi-daemon stderr*" t)))
    (condition-case failure
        (let ((process (make-process :name "pi-daemon" :command command :connection-type 'pipe :coding 'binary
                                     :noquery t :stderr complaints)))
          (when-let ((pipe (get-buffer-process complaints)))
            (set-process-query-on-exit-flag pipe nil)
            (set-process-sentinel pipe #'ignore))
          (process-put process 'pi-daemon-stderr complaints)
          process)
      (error
       (kill-buffer complaints)
       (signal (car failure) (cdr failure))))))

(defun pi-daemon-wire-socket (path)
  "A process that is connected to the Unix socket at PATH.
Signals a `file-error' where nobody listens."
  (make-network-process :name "pi-daemon" :family 'local :service (expand-file-name path) :coding 'binary
                        :noquery t))

(defun pi-daemon-wire-close (wire)
  "End WIRE; its `lost' isn't called any more."
  (setf (pi-daemon-wire-lost wire) #'ignore)
  (delete-process (pi-daemon-wire-process wire))
  (pi-daemon-wire--forget wire))

(cl-defmethod jsonrpc-running-p ((wire pi-daemon-wire))
  "Whether WIRE is connected."
  (process-live-p (pi-daemon-wire-process wire)))

(cl-defmethod jsonrpc-shutdown ((wire pi-daemon-wire) &optional _cleanup)
  "End WIRE."
  (pi-daemon-wire-close wire))

(cl-defmethod jsonrpc-connection-send ((wire pi-daemon-wire) &rest message &key id method &allow-other-keys)
  "Send MESSAGE over WIRE, with its ID and METHOD."
  (when (and id method)
    (setf (pi-daemon-wire-last-id wire) id))
  (let* ((named (if method (plist-put (copy-sequence message) :method (format "%s" method)) message))
         (body (pi-daemon-wire--encoded `(:jsonrpc "2.0" ,@named))))
    (condition-case failure
        (process-send-string (pi-daemon-wire-process wire)
                             (concat (format "Content-Length: %d\r\n\r\n" (length body)) body))
      ;; Of a process that has ended the sentinel tells in a moment, and of all that waits for it.
      (error (when (process-live-p (pi-daemon-wire-process wire))
               (signal (car failure) (cdr failure)))))))

(defun pi-daemon-wire--encoded (message)
  "MESSAGE as bytes; nil in it is null."
  (let ((text (if (fboundp 'json-serialize)
                  (json-serialize message :false-object :json-false :null-object nil)
                (let ((json-false :json-false) (json-null nil))
                  (json-encode message)))))
    (if (multibyte-string-p text) (encode-coding-string text 'utf-8 t) text)))

(defun pi-daemon-wire--decoded (body)
  "The message in BODY, a string of bytes.
Objects are plists, null is nil, false is `:json-false'."
  (let ((text (decode-coding-string body 'utf-8 t)))
    (condition-case nil
        (json-parse-string text :object-type 'plist :null-object nil :false-object :json-false)
      (error (pi-daemon-wire--decoded-slowly text)))))

(defun pi-daemon-wire--decoded-slowly (text)
  "The same of TEXT by a reader that takes what Emacs's own doesn't."
  (let ((json-object-type 'plist)
        (json-array-type 'vector)
        (json-key-type 'keyword)
        (json-false :json-false)
        (json-null nil)
        ;; The daemon takes 500 levels.
        (max-lisp-eval-depth (max max-lisp-eval-depth 20000)))
    (dlet ((max-specpdl-size 100000))
      (json-read-from-string text))))

(defun pi-daemon-wire--filter (process bytes)
  "Take BYTES that PROCESS said."
  (when-let ((wire (process-get process 'pi-daemon-wire))
             (input (pi-daemon-wire-input wire)))
    (when (buffer-live-p input)
      (with-current-buffer input
        (goto-char (point-max))
        (insert bytes))
      (let ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024))) ; a tree is many small objects
            (body nil))
        (while (setq body (and (buffer-live-p input) (pi-daemon-wire--next wire)))
          ;; One message that something goes wrong with must not take those behind it along.
          (condition-case-unless-debug failure
              (with-temp-buffer
                (jsonrpc-connection-receive wire (pi-daemon-wire--decoded body)))
            (error (message "pi-daemon: %s" (error-message-string failure)))))))))

(defun pi-daemon-wire--next (wire)
  "Take the body of the next message out of the input of WIRE.
Return nil while there is none."
  (with-current-buffer (pi-daemon-wire-input wire)
    (unless (pi-daemon-wire-expected wire)
      (goto-char (point-min))
      (when (search-forward "\r\n\r\n" nil t)
        (let ((end (point)) (case-fold-search t))
          (goto-char (point-min))
          (setf (pi-daemon-wire-expected wire)
                (and (re-search-forward "^content-length: *\\([0-9]+\\)" end t)
                     (string-to-number (match-string 1))))
          (delete-region (point-min) end))))
    (let ((expected (pi-daemon-wire-expected wire)))
      (when (and expected (>= (buffer-size) expected))
        (setf (pi-daemon-wire-expected wire) nil)
        (prog1 (buffer-substring-no-properties (point-min) (+ (point-min) expected))
          (delete-region (point-min) (+ (point-min) expected)))))))

(defun pi-daemon-wire--sentinel (process change)
  "PROCESS has undergone CHANGE."
  (when-let ((wire (and (not (process-live-p process)) (process-get process 'pi-daemon-wire))))
    (process-put process 'pi-daemon-wire nil)
    (let ((lost (pi-daemon-wire-lost wire))
          (reason (or (pi-daemon-wire--complaint process) (string-trim change))))
      (setf (pi-daemon-wire-lost wire) #'ignore)
      (pi-daemon-wire--forget wire)
      (funcall lost reason))))

(defun pi-daemon-wire--complaint (process)
  "The last line that the program PROCESS wrote to its standard error.
Nil without one."
  (when-let ((complaints (process-get process 'pi-daemon-stderr)))
    (when (buffer-live-p complaints)
      (with-current-buffer complaints
        (car (last (split-string (buffer-string) "\n" t "[ \t\r]+")))))))

(defun pi-daemon-wire--forget (wire)
  "Let go of what WIRE has."
  (jsonrpc-forget-pending-continuations wire)
  (let ((complaints (process-get (pi-daemon-wire-process wire) 'pi-daemon-stderr)))
    (dolist (buffer (list (pi-daemon-wire-input wire) complaints))
      (when (buffer-live-p buffer)
        (let ((kill-buffer-query-functions nil))
          (kill-buffer buffer))))))

(provide 'pi-daemon-wire)

;;; pi-daemon-wire.el ends here
