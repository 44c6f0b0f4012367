--- The branch panel: a scratch buffer that shows the tree of one session and follows it. What a cursor stands on and
--- what is at the top of a window stay where they are while the tree changes around them.

local config = require("pi_daemon.config")
local draw = require("pi_daemon.draw")
local tree = require("pi_daemon.tree")
local windows = require("pi_daemon.windows")

local api = vim.api
local SPACE = api.nvim_create_namespace("pi-daemon")

local Panel = {}
Panel.__index = Panel

local M = { by_buffer = {} }

api.nvim_set_decoration_provider(SPACE, {
  on_win = function(_, _, buffer)
    return M.by_buffer[buffer] ~= nil
  end,
  on_line = function(_, _, buffer, line)
    for _, span in ipairs(M.by_buffer[buffer].spans[line + 1] or {}) do
      local mark = { end_col = span[3], hl_group = span[1], ephemeral = true }
      -- A line that has just become shorter is drawn anew in a moment.
      pcall(api.nvim_buf_set_extmark, buffer, SPACE, line, span[2], mark)
    end
  end,
})

--- The panel of a buffer, by default of the current one.
function M.of(buffer)
  return M.by_buffer[buffer or api.nvim_get_current_buf()]
end

local function of_session(session)
  for _, panel in pairs(M.by_buffer) do
    if panel.session == session then
      return panel
    end
  end
end

local function new(session)
  local buffer = api.nvim_create_buf(false, true)
  local panel = setmetatable({
    session = session,
    buffer = buffer,
    rows = {},
    opened = {}, -- ids of entries whose stretch is shown whole
    fold = config.current.fold,
    spans = {},
  }, Panel)
  M.by_buffer[buffer] = panel
  pcall(api.nvim_buf_set_name, buffer, "pi-daemon://" .. session.id) -- a buffer may have the name already
  vim.bo[buffer].bufhidden = "hide"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].filetype = "pidaemon"
  require("pi_daemon.keys").set(panel)
  api.nvim_create_autocmd("BufUnload", {
    buffer = buffer,
    callback = function()
      M.by_buffer[buffer] = nil
      session:remove()
      -- One that is only unloaded would keep its name.
      vim.schedule(function()
        pcall(api.nvim_buf_delete, buffer, { force = true })
      end)
    end,
  })
  api.nvim_create_autocmd("BufWinEnter", {
    buffer = buffer,
    callback = function()
      panel:bar()
    end,
  })
  session:listen(function(what)
    if what == "changed" and api.nvim_buf_is_valid(buffer) then
      panel:show()
    end
  end)
  return panel
end

--- Show a session's panel in a window, its own where it has one in this tab page. The cursor goes there, and to the
--- leaf when it is shown first.
function M.open(session)
  local panel = of_session(session)
  local first = not panel
  panel = panel or new(session)
  windows.enter(panel.buffer)
  if first then
    panel.to_leaf = true
  end
  panel:show()
  return panel
end

--- The row under the cursor of a window that shows it.
function Panel:row(window)
  window = window or api.nvim_get_current_win()
  return self.rows[api.nvim_win_get_cursor(window)[1]]
end

--- The node under the cursor, or nil.
function Panel:node()
  local row = self:row()
  return row and row.node
end

--- The line of an entry: its own, else that of the stretch that hides it.
function Panel:line_of(id)
  for line, row in ipairs(self.rows) do
    if row.id == id or (row.ids and vim.tbl_contains(row.ids, id)) then
      return line
    end
  end
end

--- Put the cursor of the current window on an entry. Returns whether it shows.
function Panel:go_to(id)
  local line = id and self:line_of(id)
  if line then
    api.nvim_win_set_cursor(0, { line, 0 })
  end
  return line ~= nil
end

--- Put the cursor on an entry once the tree is there, also where the filter or a fold hides it.
function Panel:look_for(id)
  self.wanted, self.to_leaf = id, nil
  self.opened[id] = true
  self.session.whole = true
  self.session:refresh()
end

--- Put the cursor on what is looked for, once all of it was read.
function Panel:_arrive(leaf_line)
  local session = self.session
  if #session.nodes == 0 or session.reading or session.shown_filter ~= session.filter then
    return
  end
  local line = self.wanted and self:line_of(self.wanted)
  if self.wanted and not line and session.filter ~= "all" then
    session.filter = "all"
    return session:refresh()
  end
  self.to_leaf, self.wanted = nil, nil
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    api.nvim_win_set_cursor(window, { line or leaf_line or 1, 0 })
  end
end

function Panel:leaf()
  return tree.shown_leaf(self.session.nodes, self.session.tree_leaf)
end

function Panel:show()
  local session = self.session
  local held = windows.hold(self.buffer, self.rows, self.drawn_leaf)
  local leaf = self:leaf()
  self.drawn_leaf = leaf
  local rows = tree.rows(session.nodes, session.tree_leaf, {
    fold = self.fold,
    opened = self.opened,
    pinned = held.pinned,
  })
  local lines, spans = {}, {}
  for line, row in ipairs(rows) do
    lines[line], spans[line] = draw.line(row, leaf, config.current.marks)
  end
  if session.shown_filter or session.status ~= "live" then
    for _, note in ipairs(draw.notes(session, leaf)) do
      rows[#rows + 1] = { kind = "note", id = "note" }
      lines[#lines + 1], spans[#spans + 1] = note, { { "PiDaemonNote", 0, #note } }
    end
  end
  local leaf_line
  for line, row in ipairs(rows) do
    leaf_line = row.id == leaf and line or leaf_line
  end
  self.rows = rows
  self:_write(lines, spans, leaf_line)
  held.restore(rows, leaf)
  if self.to_leaf or self.wanted then
    self:_arrive(leaf_line)
  end
  self:bar()
end

--- Set the lines that are different. Colours are put on when a line is drawn: there may be very many.
function Panel:_write(lines, spans, leaf_line)
  local old = api.nvim_buf_get_lines(self.buffer, 0, -1, false)
  local first = 1
  while first <= #old and old[first] == lines[first] do
    first = first + 1
  end
  local last_old, last_new = #old, #lines
  while last_old >= first and last_new >= first and old[last_old] == lines[last_new] do
    last_old, last_new = last_old - 1, last_new - 1
  end
  if last_old >= first or last_new >= first then
    vim.bo[self.buffer].modifiable = true
    api.nvim_buf_set_lines(self.buffer, first - 1, last_old, false, vim.list_slice(lines, first, last_new))
    vim.bo[self.buffer].modifiable = false
    vim.bo[self.buffer].modified = false
  end
  self.spans = spans
  api.nvim_buf_clear_namespace(self.buffer, SPACE, 0, -1)
  if leaf_line then
    api.nvim_buf_set_extmark(self.buffer, SPACE, leaf_line - 1, 0, { line_hl_group = "PiDaemonLeafLine" })
  end
end

--- Say in the window's bar what is going on; nil: nothing is.
function Panel:set_busy(words)
  self.busy = words
  self:bar()
end

function Panel:bar()
  local bar = draw.bar(self.session, self.busy)
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    vim.wo[window][0].winbar = bar
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- Show or hide the middle of the stretch under the cursor.
function Panel:toggle()
  local row = self:row()
  if not row then
    return
  end
  if row.by_daemon then
    self.session.whole = true
    self.opened[row.id:sub(#"fold:" + 1)] = true
    return self.session:refresh()
  end
  local ids = row.ids or row.opened
  if not ids then
    return
  end
  for _, id in ipairs(ids) do
    self.opened[id] = row.ids and true or nil
  end
  -- Off the entries that are to be hidden: what is under a cursor stays.
  api.nvim_win_set_cursor(0, { math.max(1, self:line_of(ids[1]) - 1), 0 })
  self:show()
  self:go_to(ids[1])
end

--- Fold all there is to fold, or nothing.
function Panel:fold_all(fold)
  self.fold, self.opened = fold, {}
  self.session.whole = not fold
  self:show()
  self.session:refresh()
end

return M
