if vim.g.loaded_pi_daemon then
  return
end
vim.g.loaded_pi_daemon = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify("pi-daemon: Neovim 0.11 or later is needed.", vim.log.levels.ERROR)
  return
end

local function define_groups()
  require("pi_daemon.draw").define_groups()
end

define_groups()
vim.api.nvim_create_autocmd("ColorScheme", { callback = define_groups })

--- Names and ids of sessions that are known by now.
local function complete(begun)
  local names = { "last" }
  local open = package.loaded["pi_daemon.open"]
  for _, info in ipairs(open and open.known or {}) do
    names[#names + 1] = info.name and info.name ~= "" and info.name or info.sessionId
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, begun)
  end, names)
end

local function command(name, function_name, options)
  vim.api.nvim_create_user_command(name, function(given)
    require("pi_daemon")[function_name](given.args)
  end, options)
end

command("PiDaemon", "open", { nargs = 0, desc = "The branch panel of this directory's newest session" })
command("PiDaemonTree", "open", { nargs = "?", complete = complete, desc = "The branch panel of a session" })
command("PiDaemonContext", "context", { nargs = "?", complete = complete, desc = "What the model sees" })
command("PiDaemonSessions", "sessions", { nargs = 0, desc = "Choose a session" })
command("PiDaemonSearch", "search", { nargs = "?", desc = "Search the sessions" })
command("PiDaemonCancel", "cancel", { nargs = 0, desc = "Take back a compaction or a summary" })
