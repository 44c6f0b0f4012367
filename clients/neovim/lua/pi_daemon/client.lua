--- One connection to the daemon, made again when it is lost. Nothing here waits: answers come to callbacks, as
--- `callback(problem, result)`, on Neovim's main loop. A problem has `reason`, `message`, and maybe `data`.

local config = require("pi_daemon.config")
local framing = require("pi_daemon.framing")
local transport = require("pi_daemon.transport")

local uv = vim.uv

local PROTOCOL = 1

--- Milliseconds: between attempts at first and at most; until a daemon has to have said who it is; how long requests
--- wait for a lost connection.
local BACKOFF = { first = 50, most = 5000 }
local HANDSHAKE = 30000
local PATIENCE = 15000

local Client = {}
Client.__index = Client

local function new()
  return setmetatable({
    state = "idle", -- then "connecting", "ready", and "waiting" for the next attempt
    daemon = nil, -- what it said in `initialize`
    waiting = {}, -- requests that aren't sent yet
    flying = {}, -- id -> request
    progress = {}, -- token -> callback
    listeners = {},
    number = 0,
    round = 0, -- of the connection: what an older one still says doesn't count
    attempts = 0,
  }, Client)
end

function Client:listen(listener)
  self.listeners[#self.listeners + 1] = listener
end

function Client:_tell(method, params)
  for _, listener in ipairs(self.listeners) do
    listener(method, params or {})
  end
end

--- Send a request, or keep it until there is a connection. `options.progress` is told how far it is. Returns a function
--- that takes the request back.
function Client:request(method, params, callback, options)
  local request = {
    method = method,
    params = params,
    callback = callback or function() end,
    progress = options and options.progress,
    since = uv.now(),
  }
  if self.state == "ready" then
    self:_send(request)
  else
    table.insert(self.waiting, request)
    if self.state == "idle" then
      self:_connect()
    end
  end
  return function()
    self:_cancel(request)
  end
end

function Client:_cancel(request)
  if request.id and self.flying[request.id] then
    self:_write({ method = "$/cancelRequest", params = { id = request.id } })
    return
  end
  for place, kept in ipairs(self.waiting) do
    if kept == request then
      table.remove(self.waiting, place)
      return request.callback({ reason = "cancelled", message = "Cancelled." })
    end
  end
end

function Client:_send(request)
  self.number = self.number + 1
  request.id = self.number
  self.flying[request.id] = request
  local params = request.params or vim.empty_dict()
  if request.progress then
    local token = "nvim-" .. request.id
    self.progress[token] = request.progress
    params = vim.tbl_extend("force", params, { workDoneToken = token })
  end
  self:_write({ id = request.id, method = request.method, params = params })
end

function Client:_write(message)
  message.jsonrpc = "2.0"
  if self.link then
    self.link.write(framing.encode(message))
  end
end

function Client:_connect()
  self.state = "connecting"
  self.round = self.round + 1
  local round = self.round

  -- Both are called in luv's own context, and do their work on the main loop, in order.
  local function on_main(work)
    return function(...)
      local given = { ... }
      vim.schedule(function()
        if round == self.round then
          work(self, unpack(given))
        end
      end)
    end
  end
  local take, closed = on_main(self._take), on_main(self._closed)
  local read = framing.reader(function(body)
    take(framing.decode(body))
  end)
  local on = {
    data = function(bytes)
      local fine, problem = pcall(read, bytes)
      if not fine then
        closed(problem)
      end
    end,
    closed = closed,
  }
  local problem
  self.link, self.where, problem = transport.open(config.current, on)
  if not self.link then
    -- Not at once: whoever asked hears of it after the request was made, as of everything else.
    return vim.schedule(function()
      if round == self.round then
        self:_closed(problem, "noProgram")
      end
    end)
  end
  vim.defer_fn(function()
    if round == self.round and self.state == "connecting" then
      self:_closed("no answer within " .. HANDSHAKE / 1000 .. " seconds", "notAnswering")
    end
  end, HANDSHAKE)
  self:_initialize()
end

function Client:_initialize()
  local version = vim.version()
  self:_send({
    method = "initialize",
    params = {
      processId = uv.os_getpid(),
      clientInfo = { name = "neovim", version = ("%d.%d.%d"):format(version.major, version.minor, version.patch) },
      capabilities = vim.empty_dict(),
      initializationOptions = { piDaemon = { protocolVersion = PROTOCOL } },
    },
    callback = function(problem, result)
      if problem then
        if problem.reason ~= "connectionLost" then
          self.refused = true
          self:_closed(problem.message, problem.reason)
        end
        return
      end
      self:_ready(result)
    end,
  })
end

function Client:_ready(result)
  self.daemon = vim.tbl_get(result, "capabilities", "experimental", "piDaemon")
  if not self.daemon then
    self.refused = true
    return self:_closed("what answers is no pi-daemon", "notPiDaemon")
  end
  self.daemon.version = vim.tbl_get(result, "serverInfo", "version")
  self.state = "ready"
  self.attempts = 0
  self:_write({ method = "initialized", params = vim.empty_dict() })
  local again = self.met
  self.met = true
  if again then
    -- Before what waits is sent: who follows a session catches up first.
    self:_tell("connected")
  end
  local waiting = self.waiting
  self.waiting = {}
  for _, request in ipairs(waiting) do
    self:_send(request)
  end
end

function Client:_take(message)
  if message.method then
    if message.id ~= nil then
      local refusal = { code = -32601, message = "Neovim doesn't do " .. message.method .. "." }
      return self:_write({ id = message.id, error = refusal })
    end
    local params = message.params or {}
    if message.method == "$/progress" then
      local callback = self.progress[params.token]
      return callback and callback(params.value or {})
    end
    if message.method == "daemon/replaced" then
      self.daemon = vim.tbl_extend("force", self.daemon or {}, params)
    end
    return self:_tell(message.method, params)
  end
  local request = message.id ~= nil and self.flying[message.id]
  if not request then
    return
  end
  self.flying[message.id] = nil
  self.progress["nvim-" .. message.id] = nil
  local problem = message.error
  if problem then
    local data = type(problem.data) == "table" and problem.data or {}
    return request.callback({ reason = data.reason or "unknown", message = problem.message, data = data })
  end
  request.callback(nil, message.result)
end

--- The connection is gone, or was never made. `reason` names the error that requests get which were never sent.
function Client:_closed(message, reason)
  local link, was_ready = self.link, self.state == "ready"
  self.round = self.round + 1
  self.link = nil
  self.progress = {}
  -- What a socket is told is the system's name for it: ENOENT, ECONNREFUSED.
  reason = reason or (self.where and config.current.socket and not was_ready and "noSocket") or "daemonUnavailable"
  if reason == "noSocket" then
    message = ("no daemon listens at %s (%s)"):format(self.where, message)
  end
  self.problem = { reason = reason, message = message or "the connection is closed" }
  self.state = self.met and not self.refused and "waiting" or "idle"
  self.refused = nil
  if link then
    link.close()
  end
  local flying = self.flying
  self.flying = {}
  if self.state == "waiting" then
    self:_again()
  end
  if was_ready then
    self:_tell("disconnected", self.problem)
  end
  for _, id in ipairs(vim.fn.sort(vim.tbl_keys(flying), "n")) do
    flying[id].callback({ reason = "connectionLost", message = "the connection to the daemon was lost" })
  end
  self:_give_up(self.state == "idle" and math.huge or uv.now() - PATIENCE)
end

--- Answer the requests that wait since before that.
function Client:_give_up(before)
  local waiting = self.waiting
  self.waiting = {}
  for _, request in ipairs(waiting) do
    if request.since <= before then
      request.callback(self.problem)
    else
      table.insert(self.waiting, request)
    end
  end
end

function Client:_again()
  self.attempts = self.attempts + 1
  local delay = math.min(BACKOFF.first * 2 ^ (self.attempts - 1), BACKOFF.most)
  local round = self.round
  vim.defer_fn(function()
    if round == self.round and self.state == "waiting" then
      self:_connect()
    end
  end, delay)
end

--- Leave. A request after that connects anew.
function Client:stop()
  self.met = nil
  self:_closed("the client was stopped")
end

local M = {}

local shared

--- The one client of this Neovim.
function M.get()
  shared = shared or new()
  return shared
end

return M
