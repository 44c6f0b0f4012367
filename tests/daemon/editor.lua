-- Drives Neovim's own LSP client, without any plugin, and writes as JSON what it shows. Arguments are in $PI_TEST:
-- {command: what speaks LSP, file: a session, line, text: where to ask, append: a line to write as another process,
-- pictures: a directory, output: a file, patience: milliseconds}.
local given = vim.json.decode(os.getenv("PI_TEST"))
local shown = {}

local function wait(what, found)
  if not vim.wait(given.patience, found, 10) then
    error("never came: " .. what)
  end
end

-- The one that watches takes a picture of the screen, and says that it has.
local function picture(name)
  vim.cmd("redraw!")
  vim.fn.writefile({}, given.pictures .. "/" .. name .. ".wanted")
  wait("a picture", function() return vim.uv.fs_stat(given.pictures .. "/" .. name) ~= nil end)
end

local function drive()
  vim.o.swapfile = false
  vim.o.wrap = false
  vim.cmd.edit(given.file)
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.start({ name = "pi-daemon", cmd = given.command, root_dir = vim.fs.dirname(given.file) })
  wait("the server", function()
    return #vim.lsp.get_clients({ bufnr = buffer }) == 1
      and vim.lsp.get_clients({ bufnr = buffer })[1].initialized
  end)
  shown.encoding = vim.lsp.get_clients({ bufnr = buffer })[1].offset_encoding

  local function diagnostics()
    return vim.tbl_map(function(one)
      return { line = one.lnum, code = one.code, message = one.message }
    end, vim.diagnostic.get(buffer))
  end
  wait("diagnostics", function() return #diagnostics() > 0 end)
  shown.diagnostics = diagnostics()

  local symbols
  vim.lsp.buf.document_symbol({ on_list = function(list) symbols = list.items end })
  wait("symbols", function() return symbols end)
  shown.symbols = vim.tbl_map(function(one) return { one.lnum, one.text } end, symbols)

  local line = vim.api.nvim_buf_get_lines(buffer, given.line, given.line + 1, true)[1]
  vim.api.nvim_win_set_cursor(0, { given.line + 1, line:find(given.text, 1, true) - 1 })
  vim.lsp.buf.hover({ border = "none" })
  wait("a hover", function() return #vim.api.nvim_list_wins() == 2 end)
  picture("hover")
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      vim.api.nvim_win_close(window, true)
    end
  end

  local before = vim.api.nvim_win_get_cursor(0)
  vim.lsp.buf.definition()
  wait("a jump", function() return not vim.deep_equal(vim.api.nvim_win_get_cursor(0), before) end)
  local after = vim.api.nvim_win_get_cursor(0)
  local there = vim.api.nvim_buf_get_lines(buffer, after[1] - 1, after[1], true)[1]
  shown.definition = { after[1] - 1, there:sub(after[2] + 1, after[2] + 2) }

  vim.lsp.codelens.refresh({ bufnr = buffer })
  wait("lenses", function() return #vim.lsp.codelens.get(buffer) > 0 end)
  shown.lenses = #vim.lsp.codelens.get(buffer)

  local file = assert(io.open(given.file, "ab"))
  file:write(given.append .. "\n")
  file:close()
  local known = #shown.diagnostics
  wait("what another process wrote", function() return #diagnostics() > known end)
  shown.grown = diagnostics()
end

local ok, message = pcall(drive)
shown.error = not ok and tostring(message) or nil
vim.fn.writefile({ vim.json.encode(shown) }, given.output)
vim.cmd("qall!")
