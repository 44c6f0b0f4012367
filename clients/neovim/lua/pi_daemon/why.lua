--- Why the model sees an entry, or doesn't: the answers of `session/explain` in sentences.

local float = require("pi_daemon.float")
local text = require("pi_daemon.text")

local M = {}

--- By reason; `<name>` stands for that member of the explanation.
local SENTENCES = {
  asStored = "The model sees it as it is stored.",
  edited = "The model sees it with other content: that of the context edit <byId>.",
  summary = "The model sees it as a summary.",
  neverEnters = "The model never sees entries of its kind.",
  emptySummary = "It is a summary without text, which is not sent.",
  excluded = "It is the output of a command that was kept out of the context.",
  unknownRole = "It is a message of a role that isn't known.",
  sameIdLater = "A later line of the file has the same id and counts instead.",
  damagedLine = "Its line (<line>) can't be read.",
  noLeaf = "The leaf is before the first entry.",
  otherBranch = "It lies on another branch, which begins with <branchId> and left the path at <leftAtId>.",
  afterLeaf = "It comes after the leaf, on a branch that begins with <branchId>.",
  orphaned = "Its parents end at <rootId>, whose parent <missingId> isn't in the file.",
  loop = "Its parents run in a loop, which is cut at <rootId>.",
  pathCut = "The path to the leaf is broken at <rootId>, and it isn't below that.",
  compacted = "The compaction <compactionId> covers it.",
  olderCompaction = "It is a compaction, and <compactionId> came after it.",
  foldedSystem = "It is a system message, which the compaction <compactionId> carries on.",
  droppedSystem = "It is a system message that the compaction <compactionId> doesn't carry on.",
  omitted = "It is omitted by the context edit <byId>.",
  setting = "It sets the model or the thinking level, now.",
  overridden = "It set something that <byId> set anew.",
  edit = "It changes what <targetId> contributes.",
  editsNothing = "It is an edit of <targetId>, which contributes nothing that could be changed.",
}

--- The lines that explain an entry.
function M.lines(explained)
  local sentence = SENTENCES[explained.reason] or ("Reason: " .. tostring(explained.reason) .. ".")
  local lines = {
    explained.inContext and "In the model's context." or "Not in the model's context.",
    text.line((sentence:gsub("<(%a+)>", function(name)
      local value = explained[name]
      return value ~= nil and tostring(value) or "nothing"
    end))),
  }
  if explained.summaryId then
    lines[#lines + 1] =
      text.line(("The summary %s was made of its branch, and is in the context."):format(explained.summaryId))
  end
  local facts = explained.facts
  if type(facts) == "table" and facts.asked then
    lines[#lines + 1] = ("The summary that stands for it names %d of its %d facts."):format(facts.kept, facts.asked)
    for _, missing in ipairs(facts.missing or {}) do
      lines[#lines + 1] = text.line(("- it lacks: %s"):format(missing.text))
    end
  end
  return lines
end

--- Show the answer to `session/explain` about one entry.
function M.show(found, node)
  local explained = found.entries[1]
  local lines = explained and M.lines(explained) or { "The daemon knows nothing of this entry." }
  return float.open(lines, { title = "Why: " .. text.line(node.preview) })
end

return M
