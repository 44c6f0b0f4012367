;;; pi-daemon-tree.el --- The branches of a session in a buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Draws what `pi-daemon-follow' knows: one line an entry, the active path and the leaf marked by characters as well as by
;; faces.  Point and the windows stay where they are when the tree is drawn anew.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'pi-daemon-follow)
(require 'pi-daemon-header)
(require 'pi-daemon-rows)
(require 'pi-daemon-text)

(defcustom pi-daemon-ascii 'auto
  "Whether the tree is drawn with ASCII characters alone.
`auto': where the display has no others."
  :type '(choice (const auto) boolean)
  :group 'pi-daemon)

(defface pi-daemon-user '((t :inherit font-lock-keyword-face :weight bold)) "What a user said." :group 'pi-daemon)
(defface pi-daemon-assistant '((t :inherit font-lock-string-face)) "Answers of a model." :group 'pi-daemon)
(defface pi-daemon-tool '((t :inherit font-lock-type-face)) "Results of tools." :group 'pi-daemon)
(defface pi-daemon-summary '((t :inherit font-lock-constant-face)) "Compactions, branch summaries." :group 'pi-daemon)
(defface pi-daemon-label '((t :inherit font-lock-warning-face)) "Labels." :group 'pi-daemon)
(defface pi-daemon-leaf '((t :inherit success :weight bold)) "The leaf." :group 'pi-daemon)
(defface pi-daemon-beside '((t :inherit shadow)) "What isn't on the path to the leaf." :group 'pi-daemon)

(defconst pi-daemon-tree-filters '("default" "noTools" "userOnly" "labeledOnly" "all")
  "The filters of the protocol, in the order of their keys.")

(defconst pi-daemon-tree--unicode '(:path "●" :beside "○" :leaf "◆" :bar "│ " :branch "├─" :folded "⋮")
  "What the tree is drawn with.")

(defconst pi-daemon-tree--plain '(:path "*" :beside "o" :leaf "#" :bar "| " :branch "|-" :folded ":")
  "The same in ASCII.")

(defvar-local pi-daemon-tree--fold t "Whether straight stretches are folded.")
(defvar-local pi-daemon-tree--unfolded nil "Hash table of the ids that are never folded.")
(defvar-local pi-daemon-tree--places nil "Hash table of ids: the positions of their lines.")
(defvar-local pi-daemon-tree--parents nil "Hash table of ids: the parents they had when they were drawn.")
(defvar-local pi-daemon-tree--jump nil "Where point goes with the next drawing: an id, or t for the leaf.")

;;; What is at point

(defun pi-daemon-tree-node ()
  "The node of the line at point; nil on other lines."
  (get-text-property (line-beginning-position) 'pi-daemon-node))

(defun pi-daemon-tree-folded ()
  "The nodes that are folded away at point."
  (get-text-property (line-beginning-position) 'pi-daemon-folded))

(defun pi-daemon-tree-entry ()
  "The node at point.  Signals a `user-error' where that is none."
  (when (pi-daemon-tree-folded)
    (user-error "These entries are folded away: TAB shows them"))
  (or (pi-daemon-tree-node) (user-error "There is no entry on this line: go to one first")))

(defun pi-daemon-tree-shown-leaf ()
  "The id of the entry that is drawn as the leaf.
Where the filter hides the leaf (a label, say) that is its nearest
ancestor that shows."
  (let ((found nil))
    (seq-doseq (node pi-daemon-nodes)
      (when (eq t (plist-get node :onPath))
        (setq found (plist-get node :id))))
    found))

(defun pi-daemon-tree-go (id)
  "Go to the line of the entry ID, or of its nearest visible ancestor.
Return nil where there is neither."
  (let ((known pi-daemon-tree--parents) (place nil) (steps 0))
    (while (and id (not (setq place (gethash id pi-daemon-tree--places))) (< (cl-incf steps) 1000000))
      (setq id (and known (gethash id known))))
    (when place
      (goto-char place)
      t)))

(defun pi-daemon-tree-reveal (id)
  "Go to the entry ID as `pi-daemon-tree-go' does, and unfold it."
  (when (pi-daemon-tree-go id)
    (when (pi-daemon-tree-folded)
      (setq pi-daemon-tree--jump id)
      (pi-daemon-tree-draw))
    t))

;;; Drawing

(defun pi-daemon-tree-draw ()
  "Draw the tree as it is known, and the header line."
  (let* ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024))) ; else most of the time goes there
         (leaf (pi-daemon-tree-shown-leaf))
         (views (pi-daemon-tree--views))
         (signs (if (pi-daemon-tree--ascii-p) pi-daemon-tree--plain pi-daemon-tree--unicode))
         (rows (pi-daemon-rows pi-daemon-nodes leaf pi-daemon-tree--fold (pi-daemon-tree--kept views)))
         (width (pi-daemon-tree--kind-width rows))
         (places (make-hash-table :test #'equal))
         (inhibit-read-only t))
    (with-silent-modifications
      (erase-buffer)
      (dolist (row rows)
        (when (and (pi-daemon-row-root row) (> (point) (point-min)))
          (insert "\n"))
        (if (pi-daemon-row-folded row)
            (dolist (node (pi-daemon-row-folded row))
              (puthash (plist-get node :id) (point) places))
          (puthash (plist-get (pi-daemon-row-node row) :id) (point) places))
        (insert (pi-daemon-tree--line row leaf signs width) "\n"))
      (insert (pi-daemon-tree--below leaf signs)))
    (setq pi-daemon-tree--places places)
    (pi-daemon-tree--restore views leaf)
    (setq pi-daemon-tree--parents (pi-daemon-tree--parents-of pi-daemon-nodes))
    (pi-daemon-header-draw)))

(defun pi-daemon-tree--ascii-p ()
  "Whether to draw in ASCII."
  (if (eq pi-daemon-ascii 'auto)
      (not (cl-every #'char-displayable-p '(?● ?◆ ?├ ?⋮)))
    pi-daemon-ascii))

(defun pi-daemon-tree--parents-of (nodes)
  "A hash table of the parents of NODES."
  (let ((parents (make-hash-table :test #'equal :size (max 1 (length nodes)))))
    (seq-doseq (node nodes)
      (puthash (plist-get node :id) (plist-get node :parentId) parents))
    parents))

(defun pi-daemon-tree--views ()
  "Where point is in the buffer and in its windows.
Lists of window, id, column, lines from the window's start, and line.
The one of the buffer has no window."
  (cons (pi-daemon-tree--view nil (point))
        (mapcar (lambda (window) (pi-daemon-tree--view window (window-point window)))
                (get-buffer-window-list nil nil t))))

(defun pi-daemon-tree--view (window position)
  "What `pi-daemon-tree--views' has of WINDOW with point at POSITION."
  (save-excursion
    (goto-char position)
    (list window
          (plist-get (or (pi-daemon-tree-node) (car (last (pi-daemon-tree-folded)))) :id)
          (current-column)
          (if window (count-lines (min (window-start window) (line-beginning-position)) (line-beginning-position)) 0)
          (line-number-at-pos))))

(defun pi-daemon-tree--kept (views)
  "Ids that aren't folded away, as a hash table.
Those that were unfolded, and those where point is in VIEWS."
  (let ((kept (copy-hash-table pi-daemon-tree--unfolded)))
    (pcase-dolist (`(,_ ,id . ,_) views)
      (when id
        (puthash id t kept)))
    (when (stringp pi-daemon-tree--jump)
      (puthash pi-daemon-tree--jump t kept))
    kept))

(defun pi-daemon-tree--restore (views leaf)
  "Put point and windows where VIEWS had them.
At LEAF where the next drawing was to go there."
  (let* ((jump (if (stringp pi-daemon-tree--jump) pi-daemon-tree--jump (and pi-daemon-tree--jump leaf)))
         (jump (and jump (gethash jump pi-daemon-tree--places) jump))
         (places (mapcar (lambda (view) (pi-daemon-tree--place view jump)) views)))
    ;; What isn't in a tree that was read won't come: then a later drawing must not jump.
    (when (or jump (not (eq pi-daemon--reading 'planned)))
      (setq pi-daemon-tree--jump nil))
    (goto-char (car places))
    (cl-loop for (window _ _ lines) in (cdr views)
             for place in (cdr places)
             do (set-window-point window place)
             (unless jump
               (set-window-start window (save-excursion (goto-char place) (forward-line (- lines)) (point)) t)))))

(defun pi-daemon-tree--place (view jump)
  "The position that VIEW had, in the tree as it is drawn now.
JUMP is an entry to go to instead."
  (pcase-let ((`(,_ ,id ,column ,_ ,number) view))
    (save-excursion
      (unless (pi-daemon-tree-go (or jump id))
        (goto-char (point-min))
        (forward-line (1- number)))
      (unless jump
        (move-to-column column))
      (point))))

(defun pi-daemon-tree--kind (node)
  "What NODE is called: a message by its role, another by its type."
  (pi-daemon-text-line (or (plist-get node :role) (plist-get node :type))))

(defun pi-daemon-tree--kind-width (rows)
  "Columns for the kinds of ROWS: as many as they take, within reason."
  (let ((width 4))
    (dolist (row rows (min width 14))
      (unless (pi-daemon-row-folded row)
        (setq width (max width (length (pi-daemon-tree--kind (pi-daemon-row-node row)))))))))

(defun pi-daemon-tree--face (kind)
  "The face of entries of that KIND."
  (pcase kind
    ("user" 'pi-daemon-user)
    ("assistant" 'pi-daemon-assistant)
    ((or "toolResult" "bashExecution") 'pi-daemon-tool)
    ((or "compaction" "branch_summary") 'pi-daemon-summary)
    (_ 'default)))

(defun pi-daemon-tree--line (row leaf signs width)
  "The line of ROW.
The entry LEAF is drawn as the leaf, with the characters SIGNS and with
WIDTH columns for the kind."
  (let* ((node (pi-daemon-row-node row))
         (side (pi-daemon-row-side row))
         (bars (apply #'concat (make-list (- (pi-daemon-row-depth row) (if side 1 0)) (plist-get signs :bar))))
         (before (propertize (concat bars (and side (plist-get signs :branch))) 'face 'shadow)))
    (if (pi-daemon-row-folded row)
        (propertize (concat before (pi-daemon-tree--fold-text (pi-daemon-row-folded row) signs))
                    'pi-daemon-folded (pi-daemon-row-folded row))
      (propertize (concat before (pi-daemon-tree--entry-text node leaf signs width)) 'pi-daemon-node node))))

(defun pi-daemon-tree--fold-text (nodes signs)
  "What stands for NODES that are folded away.
It is drawn with SIGNS."
  (let ((counts nil))
    (dolist (node nodes)
      (cl-incf (alist-get (pi-daemon-tree--kind node) counts 0 nil #'equal)))
    (propertize (format "%s %s more: %s" (plist-get signs :folded) (pi-daemon-text-number (length nodes))
                        (mapconcat (lambda (one) (format "%s %s" (pi-daemon-text-number (cdr one)) (car one)))
                                   (sort (nreverse counts) (lambda (a b) (> (cdr a) (cdr b)))) ", "))
                'face 'shadow)))

(defun pi-daemon-tree--entry-text (node leaf signs width)
  "The text of NODE, after what the tree draws before it.
The rest is as in `pi-daemon-tree--line': LEAF, SIGNS, WIDTH."
  (let* ((kind (pi-daemon-tree--kind node))
         (on-path (eq t (plist-get node :onPath)))
         (leaf-p (equal (plist-get node :id) leaf))
         (label (plist-get node :label))
         (dim (unless on-path 'pi-daemon-beside)))
    (concat
     (propertize (plist-get signs (cond (leaf-p :leaf) (on-path :path) (t :beside)))
                 'face (cond (leaf-p 'pi-daemon-leaf) (on-path 'bold) (t 'pi-daemon-beside)))
     " "
     (propertize (format "%-8s" (pi-daemon-text-id (plist-get node :id))) 'face 'shadow)
     " "
     (propertize (truncate-string-to-width kind width nil ?\s (if (eq (plist-get signs :path) "*") "~" "…"))
                 'face (or dim (pi-daemon-tree--face kind)))
     " "
     (and label (propertize (format "[%s] " (pi-daemon-text-line label 60)) 'face 'pi-daemon-label))
     (and leaf-p (propertize "<leaf> " 'face 'pi-daemon-leaf))
     (propertize (pi-daemon-text-line (plist-get node :preview)) 'face (or dim 'default)))))

(defun pi-daemon-tree--below (leaf signs)
  "What is below the tree: a note on the leaf, and a legend of SIGNS.
LEAF is the one that is drawn."
  (let ((note (pi-daemon-tree--note leaf)))
    (concat (and note (concat (propertize note 'face 'italic) "\n"))
            (unless (seq-empty-p pi-daemon-nodes)
              (propertize (format "%s active path  %s other branches  %s leaf   ? help"
                                  (plist-get signs :path) (plist-get signs :beside) (plist-get signs :leaf))
                          'face 'shadow)))))

(defun pi-daemon-tree--note (drawn)
  "Where the leaf is, as far as the tree doesn't tell.
DRAWN is the id of the entry that is drawn as the leaf."
  (let ((empty (seq-empty-p pi-daemon-nodes)) (id (pi-daemon-text-line pi-daemon-leaf)))
    (cond ((and empty (eq pi-daemon--reading 'planned)) nil)
          ((and empty (not (equal pi-daemon-filter "default")))
           (format "No entry shows under the filter %s; 1 shows the ordinary ones." pi-daemon-filter))
          (empty "There are no entries to show yet.")
          ((null pi-daemon-leaf) "The leaf is before the first entry: what is appended next makes another root.")
          ((equal drawn pi-daemon-leaf) nil)
          ((null drawn) (format "The leaf is %s; this filter shows no entry on the way to it." id))
          (t (format "The leaf itself is %s, which this filter hides; %s stands for it." id
                     (pi-daemon-text-id drawn))))))

(provide 'pi-daemon-tree)

;;; pi-daemon-tree.el ends here
