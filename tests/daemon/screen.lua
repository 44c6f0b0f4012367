-- Runs another Neovim in a terminal of its own, and writes down what is on its screen whenever that is asked for: a file
-- `name.wanted` in $PI_TEST's `pictures` makes a file `name`, once the screen shows what it shall (`expected[name]`).
local given = vim.json.decode(os.getenv("PI_TEST"))
local function lines() return vim.api.nvim_buf_get_lines(0, 0, -1, true) end

vim.o.columns, vim.o.lines = 110, 30
local ended = false
vim.fn.jobstart(given.editor, { term = true, on_exit = function() ended = true end })
vim.wait(given.patience, function()
  for name, text in pairs(given.expected) do
    local place = given.pictures .. "/" .. name
    if vim.uv.fs_stat(place .. ".wanted") and not vim.uv.fs_stat(place) then
      if table.concat(lines(), "\n"):find(text, 1, true) then
        vim.fn.writefile(lines(), place)
      end
    end
  end
  return ended
end, 20)
vim.cmd("qall!")
