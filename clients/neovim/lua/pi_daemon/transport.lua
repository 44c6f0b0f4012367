--- Ways to a daemon: a program's standard streams, or a Unix socket. What `on` is told comes in luv's own context, in
--- which most of Vim's functions can't be called: `on.data(bytes)`, and `on.closed(reason)` once.

local paths = require("pi_daemon.paths")

local uv = vim.uv

local M = {}

local KEPT_OF_STDERR = 2000

local function once(on)
  local done = false
  return function(reason)
    if not done then
      done = true
      on.closed(reason)
    end
  end
end

local function close(handle)
  if handle and not handle:is_closing() then
    handle:close()
  end
end

local function reading(pipe, on, closed)
  pipe:read_start(function(problem, bytes)
    if bytes then
      on.data(bytes)
    else
      closed(problem)
    end
  end)
end

--- Start a program. Returns a transport, or nil and why not.
function M.spawn(argv, on)
  local input, output, errors = uv.new_pipe(), uv.new_pipe(), uv.new_pipe()
  local said, code, ended, drained = "", nil, false, false
  local closed = once(on)
  local process

  local function finish()
    if ended and drained then
      local words = vim.trim(said)
      closed(words ~= "" and words or ("%s ended with code %d"):format(argv[1], code or 0))
    end
  end

  local problem
  process, problem = uv.spawn(argv[1], {
    args = vim.list_slice(argv, 2),
    stdio = { input, output, errors },
  }, function(exit)
    code, ended = exit, true
    close(process)
    finish()
  end)
  if not process then
    for _, pipe in ipairs({ input, output, errors }) do
      close(pipe)
    end
    return nil, tostring(problem)
  end
  reading(output, on, function()
    -- The program may have closed its output and go on: end it.
    close(output)
    close(input)
    if not ended then
      process:kill("sigterm")
    end
  end)
  errors:read_start(function(_, bytes)
    if bytes then
      said = (said .. bytes):sub(-KEPT_OF_STDERR)
    else
      close(errors)
      drained = true
      finish()
    end
  end)
  return {
    write = function(bytes)
      if not input:is_closing() then
        input:write(bytes)
      end
    end,
    close = function()
      closed("closed")
      close(input) -- the bridge leaves when its input ends
      close(output)
    end,
  }
end

--- Connect to a socket. Returns a transport; a socket that isn't there is told by `on.closed`.
function M.socket(path, on)
  local pipe = uv.new_pipe()
  local closed = once(on)
  local waiting, open = {}, false

  local function finish(reason)
    close(pipe)
    closed(reason or "the daemon has closed the connection")
  end

  pipe:connect(path, function(problem)
    if problem then
      return finish(problem)
    end
    if pipe:is_closing() then
      return
    end
    open = true
    reading(pipe, on, finish)
    for _, bytes in ipairs(waiting) do
      pipe:write(bytes)
    end
  end)
  return {
    write = function(bytes)
      if pipe:is_closing() then
        return
      end
      if open then
        pipe:write(bytes)
      else
        waiting[#waiting + 1] = bytes
      end
    end,
    close = function()
      finish("closed")
    end,
  }
end

--- The way that the options say. Returns a transport and what is at its other end, or nil, that, and why not.
function M.open(options, on)
  if options.socket then
    local path = type(options.socket) == "string" and vim.fs.normalize(options.socket) or paths.socket()
    return M.socket(path, on), path
  end
  local program = options.cmd[1]
  local link, problem = M.spawn(options.cmd, on)
  return link, program, problem and ("`%s` can't be run (%s)"):format(program, problem)
end

return M
