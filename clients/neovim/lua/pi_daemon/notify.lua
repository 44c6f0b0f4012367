--- What the user is told, with what to do about it.

local text = require("pi_daemon.text")

local M = {}

local TITLE = "pi-daemon"

local function tell(message, level)
  vim.schedule(function()
    vim.notify(TITLE .. ": " .. text.line(message), level, { title = TITLE })
  end)
end

function M.info(message)
  tell(message, vim.log.levels.INFO)
end

function M.warn(message)
  tell(message, vim.log.levels.WARN)
end

--- By an error's `reason`: what somebody who sits before an editor can do.
local ADVICE = {
  sessionNotFound = ":PiDaemonSessions shows those there are.",
  ambiguousSession = "Give more of its id, or its path.",
  entryNotFound = "The panel is read anew.",
  leafMoved = "Another client was faster: look where the leaf is, and try again.",
  busy = "Wait until it has ended, and try again.",
  overloaded = "Try again in a moment.",
  noProgram = "Install pi-daemon, or say in setup() where it is: cmd = { '/path/to/pi-daemon', 'connect' }.",
  noSocket = "Start one with `pi-daemon serve`, or leave `socket` out of setup(): then it is started for you.",
  notAnswering = "`pi-daemon status` says more, `pi-daemon stop` ends it. :checkhealth pi_daemon looks at all of it.",
  daemonUnavailable = ":checkhealth pi_daemon looks what is missing.",
  connectionLost = "Whether it was done is not known: look at the panel, which is read anew.",
  versionMismatch = "Update pi-daemon, or this plugin.",
  sessionFailed = "Close the session everywhere and open it again.",
  summarizerFailed = "Try again, or `pi-daemon compact --summarizer extractive`, which needs no model.",
}

--- A refusal. `doing` says what could not be done, "move the leaf" for example.
function M.failed(doing, problem)
  if problem.reason == "cancelled" then
    return M.info("cancelled: " .. doing .. ".")
  end
  local message = text.line(problem.message or problem.reason or "unknown error")
  local advice = ADVICE[problem.reason]
  if problem.reason == "methodNotFound" then
    message = "this daemon can't do that yet."
    advice = "Update pi-daemon."
  end
  local said = ("can't %s: %s"):format(doing, message)
  if not said:match("[.!?]$") then
    said = said .. "."
  end
  tell(advice and said .. " " .. advice or said, vim.log.levels.ERROR)
end

return M
