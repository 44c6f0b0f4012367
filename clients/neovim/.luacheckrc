std = "luajit"
read_globals = { "vim" }
max_line_length = 120
-- Options of Neovim are set by assigning to fields of vim.
ignore = { "122/vim" }
