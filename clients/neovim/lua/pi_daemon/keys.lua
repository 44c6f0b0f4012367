--- The keys of the panel, and the help that shows them.

local config = require("pi_daemon.config")

local M = {}

--- In the order of the help: name, and what it does.
local KEYS = {
  { "move", "move the leaf here: the next message goes on from this entry" },
  { "move_summarized", "the same, and have the branch that is left summarized" },
  { "edit", "edit a user's message anew: the leaf goes before it, its text into a prompt buffer" },
  { "fork", "fork: a new session of the path to this entry" },
  { "label", "label this entry; an empty label clears it" },
  { "omit", "omit this entry from what the model sees, from the leaf on" },
  { "why", "say why the model sees this entry, or doesn't" },
  { "entry", "show this entry in full" },
  { "context", "show what the model sees" },
  { "compact", "compact: a summary stands for the older part of the context" },
  { "rename", "rename the session" },
  { "sessions", "choose another session" },
  { "search", "search the sessions" },
  { "filter", "choose which entries show" },
  { "fold", "open or close the folded entries here" },
  { "fold_all", "fold all that can be folded" },
  { "open_all", "fold nothing" },
  { "leaf", "go to the leaf" },
  { "parent", "go to the entry above" },
  { "yank", "yank this entry's id" },
  { "refresh", "read the session anew" },
  { "help", "show these keys" },
  { "close", "close the panel; the session is followed on" },
}

local function do_it(panel, name)
  require("pi_daemon.actions")[name](panel)
end

--- Map the keys in the panel's buffer.
function M.set(panel)
  for _, key in ipairs(KEYS) do
    local name, description = key[1], key[2]
    local lhs = config.current.keys[name]
    if lhs and lhs ~= "" then
      vim.keymap.set("n", lhs, function()
        do_it(panel, name)
      end, { buffer = panel.buffer, nowait = true, silent = true, desc = "pi-daemon: " .. description })
    end
  end
end

--- The help's lines.
function M.help()
  local lines = {}
  for _, key in ipairs(KEYS) do
    local lhs = config.current.keys[key[1]]
    if lhs and lhs ~= "" then
      lines[#lines + 1] = ("%-7s %s"):format(lhs, key[2])
    end
  end
  local marks = config.current.marks
  lines[#lines + 1] = ""
  lines[#lines + 1] = ("%s the leaf   %s on the path to it   %s beside it   %s folded entries"):format(
    marks.leaf,
    marks.path,
    marks.other,
    marks.fold
  )
  return lines
end

return M
