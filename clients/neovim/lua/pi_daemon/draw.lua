--- Rows of a tree as lines of a buffer, and where each colour begins and ends. Marks and words say all; colours only
--- help.

local text = require("pi_daemon.text")
local tree = require("pi_daemon.tree")

local M = {}

local KIND_WIDTH = 5

local GROUPS = {
  PiDaemonLeaf = "WarningMsg",
  PiDaemonLeafLine = "Visual",
  PiDaemonPath = "Special",
  PiDaemonOther = "Comment",
  PiDaemonBar = "NonText",
  PiDaemonUser = "Title",
  PiDaemonModel = "String",
  PiDaemonTool = "Function",
  PiDaemonSummary = "PreProc",
  PiDaemonSetting = "Comment",
  PiDaemonLabel = "Type",
  PiDaemonFold = "Comment",
  PiDaemonNote = "Comment",
  PiDaemonDue = "WarningMsg",
}

local OF_KIND = {
  user = "PiDaemonUser",
  assistant = "PiDaemonModel",
  toolResult = "PiDaemonTool",
  bashExecution = "PiDaemonTool",
  compaction = "PiDaemonSummary",
  branch_summary = "PiDaemonSummary",
  custom_message = "PiDaemonUser",
}

function M.define_groups()
  for group, link in pairs(GROUPS) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

--- A line, and { group, from, to } for its parts, in bytes.
local function builder()
  local parts, spans, length = {}, {}, 0
  local function add(part, group)
    if group and part ~= "" then
      spans[#spans + 1] = { group, length, length + #part }
    end
    parts[#parts + 1] = part
    length = length + #part
  end
  return add, function()
    return table.concat(parts), spans
  end
end

--- The line of a row, and its colours.
function M.line(row, leaf, marks)
  local add, built = builder()
  add(marks.bar:rep(row.depth - (row.side and 1 or 0)), "PiDaemonBar")
  add(row.side and marks.branch or "", "PiDaemonBar")
  if row.kind == "fold" then
    local what = row.what and ": " .. text.line(row.what) or ""
    add(("%s %s more%s"):format(marks.fold, text.number(row.count), what), "PiDaemonFold")
    return built()
  end
  local node = row.node
  local is_leaf = node.id == leaf
  local beside = not node.onPath and "PiDaemonOther" or nil
  add(
    is_leaf and marks.leaf or node.onPath and marks.path or marks.other,
    is_leaf and "PiDaemonLeaf" or beside or "PiDaemonPath"
  )
  local kind = text.line(tree.kind(node))
  add(" " .. kind .. (" "):rep(KIND_WIDTH - #kind), beside or OF_KIND[node.role or node.type] or "PiDaemonSetting")
  add(" ")
  if node.label then
    add("[" .. text.line(node.label) .. "]", "PiDaemonLabel")
    add(" ")
  end
  if is_leaf then
    add("<leaf>", "PiDaemonLeaf")
    add(" ")
  end
  add(text.line(node.preview), beside)
  return built()
end

--- Sentences about what the rows don't show.
function M.notes(session, leaf)
  local notes = {}
  if session.status == "deleted" then
    notes[#notes + 1] = "This session's file is gone. :PiDaemonSessions shows those there are."
  elseif session.status == "failed" then
    notes[#notes + 1] = text.line("This session can't be read: " .. (session.problem.message or session.problem.reason))
  end
  for _, damage in ipairs(session.damage or {}) do
    local where = damage.line and ("line %d: "):format(damage.line) or ""
    notes[#notes + 1] = text.line("damaged: " .. where .. damage.message)
  end
  if session.entry_count == 0 then
    notes[#notes + 1] = "There are no entries yet."
  elseif session.shown_filter and #session.nodes == 0 then
    notes[#notes + 1] = "This filter shows none of the entries: `t` chooses another."
  elseif not session.tree_leaf then
    notes[#notes + 1] = "The leaf is before the first entry: the next append makes another root."
  elseif leaf and leaf ~= session.tree_leaf then
    notes[#notes + 1] = "The leaf itself is hidden by this filter; its nearest ancestor stands for it."
  end
  return notes
end

local FILTERS =
  { default = "", noTools = "no tools", userOnly = "users only", labeledOnly = "labels", all = "all entries" }

--- For a window's 'winbar': name, size, filter, and what is going on.
function M.bar(session, busy)
  local title = text.shortened(text.line(session:title()), busy and 20 or 40)
  local parts = { "%#PiDaemonUser#" .. text.bar(title) .. "%*" }
  local function add(part, group)
    parts[#parts + 1] = (group and "%#" .. group .. "#" or "") .. text.bar(part) .. (group and "%*" or "")
  end
  if session.status == "away" then
    add("connecting…", "PiDaemonDue")
  elseif busy or session.compacting then
    add(busy or "compacting…", "PiDaemonDue")
  end
  parts[#parts] = parts[#parts] .. "%<" -- what comes next is cut first
  if session.tokens then
    local share = session.share and (" %d%%"):format(math.floor(session.share * 100 + 0.5)) or ""
    add(text.short_number(session.tokens) .. " tokens" .. share)
  end
  if FILTERS[session.filter] ~= "" then
    add(FILTERS[session.filter] or session.filter)
  end
  if session.read_only then
    add("read only", "PiDaemonDue")
  end
  if session.due then
    add("compaction due", "PiDaemonDue")
  end
  return " " .. table.concat(parts, " · ")
end

return M
