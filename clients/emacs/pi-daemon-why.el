;;; pi-daemon-why.el --- Why the model knows an entry  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The reasons of `session/explain' in words.

;;; Code:

(require 'subr-x)
(require 'pi-daemon-text)

(defconst pi-daemon-why--reasons
  '(("asStored" "as it is stored")
    ("edited" "as the context edit %s has it" :byId)
    ("summary" "as a summary")
    ("neverEnters" "entries of the type %s never enter a context" :type)
    ("emptySummary" "its summary is empty")
    ("excluded" "it is the output of a command that was kept out of the context")
    ("unknownRole" "no provider is sent messages of the role %s" :role)
    ("sameIdLater" "a later line has the same id and counts")
    ("damagedLine" "it is on line %s, which can't be read" :line)
    ("noLeaf" "the leaf is before the first entry")
    ("otherBranch" "it is on another branch, which begins with %s" :branchId)
    ("afterLeaf" "it comes after the leaf")
    ("orphaned" "the chain of its parents ends at %s, whose parent is missing" :rootId)
    ("loop" "its parents form a loop, which is cut at %s" :rootId)
    ("pathCut" "the path to the leaf begins only at %s" :rootId)
    ("compacted" "the compaction %s covers it" :compactionId)
    ("olderCompaction" "the compaction %s came after it" :compactionId)
    ("foldedSystem" "it is a system message, carried on by the compaction %s" :compactionId)
    ("droppedSystem" "it is a system message that the compaction %s doesn't carry on" :compactionId)
    ("omitted" "the context edit %s omits it" :byId)
    ("setting" "it is no message, but it counts: it sets the model or the level")
    ("overridden" "it is no message, and %s set anew what it sets" :byId)
    ("edit" "it is no message, but it counts: it edits %s" :targetId)
    ("editsNothing" "it edits %s, where there is nothing that it could change" :targetId))
  "What each reason means: a format and the member that goes into it.")

(defun pi-daemon-why-sentence (entry)
  "ENTRY, an ExplainedEntry, as a sentence."
  (pcase-let* ((reason (plist-get entry :reason))
               (`(,format ,member) (cdr (assoc reason pi-daemon-why--reasons)))
               (said (cond ((null format) (pi-daemon-text-line reason))
                           (member (format format (pi-daemon-text-line (plist-get entry member))))
                           (t format)))
               (index (plist-get entry :sentIndex)))
    (format "%s is %sin the model's context%s: %s."
            (pi-daemon-text-id (plist-get entry :id))
            (if (eq t (plist-get entry :inContext)) "" "not ")
            (if (integerp index) (format " (message %d)" (1+ index)) "")
            said)))

(defun pi-daemon-why-lacking (entry)
  "The facts of ENTRY that the summary in its place lacks, as lines."
  (mapcar (lambda (fact) (format "- the summary lacks, %s: %s" (pi-daemon-text-line (plist-get fact :kind))
                                 (pi-daemon-text-line (plist-get fact :text))))
          (plist-get (plist-get entry :facts) :missing)))

(provide 'pi-daemon-why)

;;; pi-daemon-why.el ends here
