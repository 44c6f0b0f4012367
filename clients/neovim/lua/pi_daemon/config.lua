--- What the user may set, and what holds otherwise.

local M = {}

M.defaults = {
  -- The program that joins the user's shared daemon, and starts it where none runs.
  cmd = { "pi-daemon", "connect" },
  -- Straight to a daemon's socket instead: true for the standard place, or a path. It has to run already.
  socket = false,
  -- The window of the branch panel: columns, or a share of the screen below 1; and "left" or "right".
  width = 0.4,
  side = "right",
  filter = "default",
  fold = true,
  -- Sessions with more entries are folded by the daemon, which then sends less.
  fold_by_daemon = 4000,
  -- The model's window in tokens where the session isn't set to one: a number, or a function of the session's state.
  context_window = nil,
  -- Called with the text of a message that is edited anew, and the session's id, instead of the prompt buffer.
  on_edit = nil,
  marks = {
    leaf = "◆",
    path = "●",
    other = "○",
    bar = "│ ",
    branch = "├─",
    fold = "⋮",
  },
  -- Of the panel; false takes a key away. What each does is in |pi-daemon-keys|.
  keys = {
    move = "<CR>",
    move_summarized = "M",
    edit = "e",
    fork = "f",
    label = "L",
    rename = "r",
    compact = "C",
    omit = "x",
    why = "w",
    entry = "K",
    context = "m",
    sessions = "s",
    search = "S",
    filter = "t",
    fold = "<Tab>",
    fold_all = "zM",
    open_all = "zR",
    leaf = "gl",
    parent = "gp",
    yank = "gy",
    refresh = "R",
    help = "g?",
    close = "q",
  },
}

M.current = vim.deepcopy(M.defaults)

local TYPES = {
  cmd = { "table" },
  socket = { "boolean", "string" },
  width = { "number" },
  side = { "string" },
  filter = { "string" },
  fold = { "boolean" },
  fold_by_daemon = { "number" },
  context_window = { "number", "function" },
  on_edit = { "function" },
  marks = { "table" },
  keys = { "table" },
}

--- What is wrong with the options, as a list of sentences.
local function problems(options)
  local found = {}
  for name, value in pairs(options) do
    local types = TYPES[name]
    if not types then
      found[#found + 1] = ("there is no option `%s`"):format(name)
    elseif not vim.tbl_contains(types, type(value)) then
      found[#found + 1] = ("`%s` is to be a %s"):format(name, table.concat(types, " or a "))
    end
  end
  for _, name in ipairs({ "marks", "keys" }) do
    for key in pairs(type(options[name]) == "table" and options[name] or {}) do
      if M.defaults[name][key] == nil then
        found[#found + 1] = ("there is no `%s.%s`"):format(name, key)
      end
    end
  end
  table.sort(found)
  return found
end

--- Take the user's options. What is wrong with them is told, and left as it is by default.
function M.set(options)
  options = options or {}
  local wrong = problems(options)
  if #wrong > 0 then
    require("pi_daemon.notify").warn("setup: " .. table.concat(wrong, "; ") .. ". See :help pi-daemon-setup.")
  end
  local right = {}
  for name, value in pairs(options) do
    if TYPES[name] and vim.tbl_contains(TYPES[name], type(value)) then
      right[name] = value
    end
  end
  M.current = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), right)
  if right.cmd then
    M.current.cmd = right.cmd
  end
end

return M
