--- Where the daemon listens, as the protocol has it.

local uv = vim.uv

local M = {}

local SOCKET_BYTES = 107

local function variable(name)
  local value = vim.env[name]
  return value ~= nil and value ~= "" and value or nil
end

--- The directory of the daemon's log and token.
function M.state_directory()
  local given = variable("PI_DAEMON_STATE_DIR")
  if given then
    return vim.fs.abspath(vim.fs.normalize(given))
  end
  return (variable("XDG_STATE_HOME") or vim.fs.normalize("~/.local/state")) .. "/pi-daemon"
end

--- The socket of the user's shared daemon; it need not be there.
function M.socket()
  local directory = variable("XDG_RUNTIME_DIR")
  local found = directory and directory:sub(1, 1) == "/" and uv.fs_stat(directory)
  local place
  if found and found.type == "directory" and found.uid == uv.getuid() then
    place = vim.fs.normalize(directory) .. "/pi-daemon/daemon.sock"
  else
    place = M.state_directory() .. "/run/daemon.sock"
  end
  if #place <= SOCKET_BYTES then
    return place
  end
  return ("/tmp/pi-daemon-%d-%s/daemon.sock"):format(uv.getuid(), vim.fn.sha256(place):sub(1, 16))
end

return M
