--- `:checkhealth pi_daemon`: the only place that waits.

local M = {}

local WAIT = 5000

local function versions()
  if vim.fn.has("nvim-0.11") == 1 then
    vim.health.ok("Neovim is 0.11 or later")
  else
    vim.health.error("Neovim 0.11 or later is needed")
  end
end

local function program(options)
  local name = options.cmd[1]
  local found = vim.fn.exepath(name)
  if found == "" then
    vim.health.error(("`%s` is not found"):format(name), {
      "Install pi-daemon with pip, or put its directory into $PATH.",
      "Or say where it is: require('pi_daemon').setup({ cmd = { '/path/to/pi-daemon', 'connect' } })",
    })
    return false
  end
  vim.health.ok(("`%s` is %s"):format(name, found))
  return true
end

local function socket(options)
  local path = type(options.socket) == "string" and vim.fs.normalize(options.socket)
    or require("pi_daemon.paths").socket()
  local found = vim.uv.fs_stat(path)
  if found and found.type == "socket" then
    vim.health.ok("The socket is " .. path)
    return true
  end
  local missing = "There is no socket at " .. path
  if options.socket then
    vim.health.error(missing, { "Start a daemon with `pi-daemon serve`, or leave `socket` out of setup()." })
    return false
  end
  vim.health.info(missing .. ": no daemon runs now, one is started when it is needed")
  return true
end

local function daemon()
  local client = require("pi_daemon.client").get()
  local problem, status
  client:request("daemon/status", nil, function(trouble, found)
    problem, status = trouble, found
  end)
  vim.wait(WAIT, function()
    return problem ~= nil or status ~= nil
  end, 10)
  if not status then
    local message = problem and problem.message or ("no answer within %d seconds"):format(WAIT / 1000)
    vim.health.error("No daemon answers: " .. message, { "`pi-daemon status` and `pi-daemon logs` say more." })
    return
  end
  vim.health.ok(
    ("pi-daemon %s answers (process %d, protocol %d)"):format(status.version, status.pid, status.protocolVersion)
  )
  vim.health.info("Sessions lie in " .. status.sessionsDir)
  local text = require("pi_daemon.text")
  local clients, sessions = text.count(#status.clients, "client"), text.count(#status.sessions, "open session")
  vim.health.info(clients .. ", " .. sessions)
  local features = vim.tbl_keys(client.daemon.features or {})
  table.sort(features)
  vim.health.info("It can do: " .. table.concat(features, ", "))
end

function M.check()
  local options = require("pi_daemon.config").current
  vim.health.start("pi-daemon")
  versions()
  local usable = options.socket or program(options)
  if socket(options) and usable then
    daemon()
  end
end

return M
