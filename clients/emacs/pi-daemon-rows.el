;;; pi-daemon-rows.el --- A tree of entries as lines  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The main line of each part stays where it is, and its side branches are drawn under the entry they leave from, one
;; step to the right: a session of 10,000 entries in a row is flat.  The main line follows the active path, elsewhere the
;; larger part.  Nothing is recursive.

;;; Code:

(require 'cl-lib)

(defconst pi-daemon-rows--head 3 "Entries that a folded stretch shows of its beginning.")
(defconst pi-daemon-rows--tail 5 "And of its end, which is nearer to what goes on.")
(defconst pi-daemon-rows--worth 4 "Entries that a fold must hide to be worth its line.")

(cl-defstruct (pi-daemon-row (:copier nil))
  "One line: a NODE, or in its place the list of nodes FOLDED away.
DEPTH counts the side branches it lies in.  SIDE: it begins one.
ROOT: it begins a tree.  PLAIN: it may be folded."
  node depth side root plain folded)

(defun pi-daemon-rows (nodes leaf fold keep)
  "The rows of NODES, a vector in which parents come before their children.
LEAF is the id of the one that is drawn as the leaf.  With FOLD straight
stretches are joined, but for entries with ids in the hash table KEEP."
  (let* ((count (length nodes))
         (children (make-vector count nil))
         (roots (pi-daemon-rows--roots nodes children))
         (sizes (make-vector count 1))
         (stack (mapcar (lambda (root) (list root 0 nil t)) roots))
         (rows nil))
    (cl-loop for index downfrom (1- count) to 0
             do (dolist (kid (aref children index))
                  (cl-incf (aref sizes index) (aref sizes kid))))
    (while stack
      (pcase-let* ((`(,index ,depth ,side ,root) (pop stack))
                   (node (aref nodes index))
                   (kids (aref children index)))
        (push (make-pi-daemon-row
               :node node :depth depth :side side :root root
               :plain (and kids (null (cdr kids)) (not side) (not root) (not (plist-get node :label))
                           (not (equal (plist-get node :id) leaf))))
              rows)
        (when kids
          (let ((main (pi-daemon-rows--main nodes sizes kids)))
            (push (list main depth nil nil) stack)
            (dolist (kid (reverse kids))
              (unless (eq kid main)
                (push (list kid (1+ depth) t nil) stack)))))))
    (setq rows (nreverse rows))
    (if fold (pi-daemon-rows--folded rows keep) rows)))

(defun pi-daemon-rows--roots (nodes children)
  "Indices of the NODES that have no parent here.
The others are put into the vector CHILDREN, at their parents."
  (let ((places (make-hash-table :test #'equal :size (max 1 (length nodes))))
        (roots nil))
    (dotimes (index (length nodes))
      (let* ((node (aref nodes index))
             (parent (plist-get node :parentId))
             (place (and parent (gethash parent places))))
        (if place (push index (aref children place)) (push index roots))
        (puthash (plist-get node :id) index places)))
    (dotimes (index (length nodes))
      (setf (aref children index) (nreverse (aref children index))))
    (nreverse roots)))

(defun pi-daemon-rows--main (nodes sizes kids)
  "Of KIDS, indices into NODES, the one that continues the main line.
SIZES says how many entries each has below it."
  (let ((best (car kids)))
    (dolist (kid (cdr kids) best)
      (let ((path (eq t (plist-get (aref nodes kid) :onPath)))
            (best-path (eq t (plist-get (aref nodes best) :onPath))))
        (when (if (eq path best-path) (>= (aref sizes kid) (aref sizes best)) path)
          (setq best kid))))))

(defun pi-daemon-rows--folded (rows keep)
  "ROWS with their straight stretches joined, but for the ids in KEEP.
A plain row is followed by its only child, so a straight stretch is a
run of plain rows."
  (let ((result nil))
    (while rows
      (let ((run nil))
        (while (and rows (pi-daemon-row-plain (car rows)))
          (push (pop rows) run))
        (let* ((run (nreverse run))
               (hidden (max 0 (- (length run) pi-daemon-rows--head pi-daemon-rows--tail))))
          (if (< hidden pi-daemon-rows--worth)
              (dolist (row run) (push row result))
            (dotimes (_ pi-daemon-rows--head) (push (pop run) result))
            (dolist (row (pi-daemon-rows--pieces (cl-subseq run 0 hidden) keep)) (push row result))
            (dolist (row (nthcdr hidden run)) (push row result))))
        (when rows
          (push (pop rows) result))))
    (nreverse result)))

(defun pi-daemon-rows--pieces (rows keep)
  "ROWS to be hidden, in pieces.
Those in KEEP stay; what lies between them is one row, where it is worth it."
  (let ((result nil) (piece nil))
    (cl-flet ((end ()
                (if (< (length piece) pi-daemon-rows--worth)
                    (setq result (append piece result))
                  (push (make-pi-daemon-row :node (pi-daemon-row-node (car piece))
                                            :depth (pi-daemon-row-depth (car piece))
                                            :folded (nreverse (mapcar #'pi-daemon-row-node piece)))
                        result))
                (setq piece nil)))
      (dolist (row rows)
        (if (gethash (plist-get (pi-daemon-row-node row) :id) keep)
            (progn (end) (push row result))
          (push row piece)))
      (end))
    (nreverse result)))

(provide 'pi-daemon-rows)

;;; pi-daemon-rows.el ends here
