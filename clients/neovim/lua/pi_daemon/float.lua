--- Text in a floating window, which `q` and `<Esc>` close.

local text = require("pi_daemon.text")

local api = vim.api

local M = {}

--- Bytes of Markdown that are coloured: more takes long to parse.
local COLOURED = 1000000

local function size(lines, wanted)
  local columns, rows = vim.o.columns, vim.o.lines - vim.o.cmdheight
  local width = wanted
  if not width then
    width = 20
    for _, line in ipairs(lines) do
      width = math.max(width, math.min(vim.fn.strdisplaywidth(line), 100))
    end
  end
  width = math.max(1, math.min(width, columns - 4))
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
    if height > rows then
      break
    end
  end
  return width, math.max(1, math.min(height, rows - 4))
end

--- Show lines, which hold no line breaks. `options`: title, markdown, wide. Returns the buffer and the window.
function M.open(lines, options)
  local buffer = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modifiable = false
  local width, height = size(lines, options.wide and math.min(100, math.floor(vim.o.columns * 0.8)) or nil)
  local window = api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - vim.o.cmdheight - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    width = width,
    height = height,
    style = "minimal",
    border = "rounded",
    title = " " .. text.shortened(text.line(options.title), width - 2) .. " ",
  })
  vim.wo[window][0].wrap = true
  vim.wo[window][0].linebreak = true
  vim.wo[window][0].breakindent = true
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, function()
      api.nvim_win_close(window, true)
    end, { buffer = buffer, nowait = true, silent = true, desc = "pi-daemon: close" })
  end
  if options.markdown then
    local bytes = api.nvim_buf_get_offset(buffer, api.nvim_buf_line_count(buffer))
    if bytes < COLOURED then
      -- Not by the file type, which would start what the user has for files of Markdown.
      pcall(vim.treesitter.start, buffer, "markdown")
    end
  end
  return buffer, window
end

return M
