--- Windows of the panel: where they open, and what they show while the lines under them change.

local config = require("pi_daemon.config")

local api = vim.api

local M = {}

--- Columns that a share of the screen has at least, if that is not more than half of it.
local LEAST = 48

local OPTIONS = {
  wrap = false,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  foldenable = false,
  cursorline = true,
  list = false,
  spell = false,
  winfixwidth = true,
  fillchars = "eob: ",
}

--- Go to the window of this tab page that shows a buffer, or open one beside the current one.
function M.enter(buffer)
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(window) == buffer then
      return api.nvim_set_current_win(window)
    end
  end
  if vim.bo.filetype == "pidaemon" then
    api.nvim_win_set_buf(0, buffer) -- another session takes the panel's place
  else
    local wanted = config.current.width
    local width = wanted
    if wanted < 1 then
      width = math.max(math.floor(vim.o.columns * wanted), math.min(LEAST, math.floor(vim.o.columns / 2)))
    end
    api.nvim_open_win(
      buffer,
      true,
      { split = config.current.side == "left" and "left" or "right", win = 0, width = width }
    )
  end
  for name, value in pairs(OPTIONS) do
    vim.wo[0][0][name] = value
  end
end

--- Where an entry is now. Where it no longer shows, the nearest one that was beside it and does.
local function found(places, old_rows, line)
  for distance = 0, #old_rows do
    for _, at in ipairs({ line + distance, line - distance }) do
      local row = old_rows[at]
      if row and places[row.id] then
        return places[row.id]
      end
    end
  end
end

--- Remember what is under the cursor and at the top of each window of a buffer. `pinned` is the set of entries under
--- cursors; `restore(rows, leaf)` puts the windows back once the lines are other ones. A window that the user isn't in,
--- and whose cursor is on the leaf, goes with the leaf.
function M.hold(buffer, rows, old_leaf)
  local kept, pinned = {}, {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = api.nvim_win_call(window, vim.fn.winsaveview)
    local row = rows[view.lnum]
    local follows = row and row.id == old_leaf and window ~= api.nvim_get_current_win()
    kept[#kept + 1] = { window = window, view = view, follows = follows }
    if row and not follows then
      pinned[row.id] = true
    end
  end
  local function restore(now, leaf)
    local places = {}
    for line, row in ipairs(now) do
      for _, id in ipairs(row.ids or {}) do
        places[id] = places[id] or line
      end
      places[row.id] = line
    end
    for _, one in ipairs(kept) do
      local view = one.view
      local line = found(places, rows, view.lnum)
      if one.follows and places[leaf] then
        api.nvim_win_set_cursor(one.window, { places[leaf], 0 })
      elseif line then
        -- The cursor keeps its height in the window: what moved did so above or below it.
        local last_top = math.max(1, #now - vim.fn.winheight(one.window) + 1)
        view.topline = math.max(1, math.min(view.topline + line - view.lnum, last_top))
        view.lnum = line
        api.nvim_win_call(one.window, function()
          vim.fn.winrestview(view)
        end)
      end
    end
  end
  return { pinned = pinned, restore = restore }
end

return M
