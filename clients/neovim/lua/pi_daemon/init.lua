--- pi-daemon in Neovim: see |pi-daemon.txt|. Nothing is started before it is used.

local M = {}

--- Options, see |pi-daemon-setup|. It need not be called.
function M.setup(options)
  require("pi_daemon.config").set(options)
end

--- The branch panel of a session by its name, or without one that of what the user works on.
function M.open(name)
  if not name or name == "" then
    return require("pi_daemon.open").here()
  end
  local open = require("pi_daemon.open")
  open.follow(name, open.show)
end

--- Follow a session without a panel, for the statusline.
function M.follow(name)
  require("pi_daemon.open").follow(name or "last", function(session)
    require("pi_daemon.status").last = session
  end)
end

--- For 'statusline': name, label of the branch, tokens, share of the window, whether a compaction is due.
function M.statusline()
  -- Drawn often, and before anything was opened: it loads nothing then.
  return package.loaded["pi_daemon.session"] and require("pi_daemon.status").line() or ""
end

--- Choose a session.
function M.sessions()
  require("pi_daemon.choose").sessions()
end

--- Search the sessions.
function M.search(query)
  require("pi_daemon.choose").search(query)
end

--- A float of what the model sees in a session: one by name, or the one that is followed.
function M.context(name)
  local actions = require("pi_daemon.actions")
  local current = require("pi_daemon.status").session()
  if (not name or name == "") and current then
    return actions.context_of(current)
  end
  require("pi_daemon.open").follow(name and name ~= "" and name or "last", actions.context_of)
end

--- Take back what the panel of the current buffer waits for.
function M.cancel()
  local panel = require("pi_daemon.panel").of()
  if panel then
    return require("pi_daemon.actions").cancel(panel)
  end
  require("pi_daemon.notify").warn("go to the branch panel that waits first.")
end

--- A request of the protocol, for what has no key: callback(problem, result).
function M.request(method, params, callback)
  return require("pi_daemon.client").get():request(method, params, callback)
end

return M
