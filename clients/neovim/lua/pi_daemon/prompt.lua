--- A message that is edited anew: a buffer whose `:write` appends it to the session.

local notify = require("pi_daemon.notify")
local text = require("pi_daemon.text")

local api = vim.api

local M = {}

local number = 0

--- For the bar above the buffer, and for one line of a small screen.
local USAGE = " Edited anew · :w appends it as the user's message · :bwipe! leaves it"
local MOVED = "another client went on. :w again makes a branch."

--- Somebody has gone on from where the message belongs: the next write puts it there all the same, as a branch.
local function moved(buffer)
  vim.b[buffer].pi_daemon_branch = true
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.wo[window].winbar = " Another client went on · :w appends it beside that, as a branch · :bwipe! leaves it"
  end
  notify.warn(MOVED)
end

local function send(session, buffer)
  local words = table.concat(api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  if vim.trim(words) == "" then
    return notify.warn("an empty message is not appended. `:bwipe!` leaves it.")
  end
  local seconds, microseconds = vim.uv.gettimeofday()
  local message = { role = "user", content = words, timestamp = seconds * 1000 + math.floor(microseconds / 1000) }
  local place = vim.b[buffer].pi_daemon_branch and "parentId" or "expectedLeafId"
  local params = { entries = { { type = "message", message = message } }, [place] = vim.b[buffer].pi_daemon_leaf }
  session:request("session/append", params, function(problem)
    if problem and problem.reason == "leafMoved" and api.nvim_buf_is_valid(buffer) then
      return moved(buffer)
    elseif problem then
      return notify.failed("append the message", problem)
    end
    if api.nvim_buf_is_valid(buffer) then
      vim.bo[buffer].modified = false
      api.nvim_buf_delete(buffer, {})
    end
    notify.info("the message was appended to " .. session:title() .. ".")
  end)
end

--- Open a buffer with the text of a message, before which the leaf is now.
function M.open(session, words, leaf)
  number = number + 1
  local buffer = api.nvim_create_buf(false, true)
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].bufhidden = "hide"
  api.nvim_buf_set_name(buffer, ("pi-daemon://prompt/%d"):format(number))
  api.nvim_buf_set_lines(buffer, 0, -1, false, text.lines(words))
  vim.bo[buffer].modified = false
  vim.b[buffer].pi_daemon_leaf = leaf == nil and vim.NIL or leaf
  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      send(session, buffer)
    end,
  })
  api.nvim_open_win(buffer, true, { split = "below", win = 0, height = 10 })
  vim.wo[0][0].winbar = USAGE
  pcall(vim.treesitter.start, buffer, "markdown")
  return buffer
end

return M
