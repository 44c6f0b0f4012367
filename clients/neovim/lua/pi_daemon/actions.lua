--- What the keys of the panel do. Each takes the panel; refusals are told, with what to do.

local config = require("pi_daemon.config")
local notify = require("pi_daemon.notify")
local text = require("pi_daemon.text")

local M = {}

--- The node under the cursor; where there is none the user is told.
local function chosen(panel)
  local node = panel:node()
  if not node then
    local row = panel:row()
    local fold = config.current.keys.fold
    local on_fold = row and row.kind == "fold" and fold
    notify.warn(on_fold and ("these entries are folded: %s opens them."):format(fold) or "there is no entry here.")
  end
  return node
end

--- Ask for what `method` does, and tell a refusal. A daemon that refuses may know more than the panel: read it anew.
local function ask(panel, doing, method, params, done, options)
  return panel.session:request(method, params, function(problem, result)
    panel:set_busy(nil)
    if problem then
      panel.session:refresh()
      return notify.failed(doing, problem)
    end
    if done then
      done(result)
    end
  end, options)
end

--- The same for what takes its time: how far it is shows in the bar, and `:PiDaemonCancel` takes it back.
local function ask_long(panel, doing, method, params, done)
  panel:set_busy(doing .. "…")
  panel.cancel = ask(panel, doing, method, params, done, {
    progress = function(value)
      if value.kind ~= "end" then
        local share = value.percentage and (" %d%%"):format(value.percentage) or ""
        panel:set_busy(("%s%s: %s"):format(doing, share, value.message or value.title or "…"))
      end
    end,
  })
end

local function first(preview)
  return text.shortened(text.line(preview), 40)
end

function M.move(panel)
  local node = chosen(panel)
  if node then
    ask(panel, "move the leaf", "session/moveLeaf", { entryId = node.id })
  end
end

function M.move_summarized(panel)
  local node = chosen(panel)
  if not node then
    return
  end
  ask_long(panel, "summarize the branch", "session/moveLeaf", { entryId = node.id, summarize = true }, function(result)
    notify.info(
      result.summaryEntryId and "the leaf was moved; a summary of the branch is there."
        or "the leaf was moved; there was nothing to summarize."
    )
  end)
end

function M.edit(panel)
  local node = chosen(panel)
  if not node then
    return
  end
  if node.role ~= "user" and node.type ~= "custom_message" then
    return notify.warn("only a user's message can be edited anew: put the cursor on one.")
  end
  ask(panel, "go before the message", "session/moveLeaf", { entryId = node.id, position = "before" }, function(result)
    local words = result.editorText or ""
    vim.fn.setreg('"', words)
    if config.current.on_edit then
      return config.current.on_edit(words, panel.session.id)
    end
    require("pi_daemon.prompt").open(panel.session, words, result.leafId)
  end)
end

function M.fork(panel)
  local node = chosen(panel)
  if node then
    ask(panel, "fork", "session/fork", { entryId = node.id }, function(state)
      notify.info(("forked after “%s”; this is the new session."):format(first(node.preview)))
      require("pi_daemon.open").session({ sessionId = state.sessionId })
    end)
  end
end

function M.label(panel)
  local node = chosen(panel)
  if not node then
    return
  end
  vim.ui.input({ prompt = "Label (empty clears it): ", default = node.label }, function(label)
    if label and label ~= (node.label or "") then
      ask(panel, "label the entry", "session/label", { entryId = node.id, label = label })
    end
  end)
end

function M.rename(panel)
  vim.ui.input({ prompt = "Name of the session (empty clears it): ", default = panel.session.name }, function(name)
    if name and name ~= (panel.session.name or "") then
      ask(panel, "rename the session", "session/rename", { name = name })
    end
  end)
end

function M.omit(panel)
  local node = chosen(panel)
  if not node then
    return
  end
  ask(panel, "omit the entry", "session/editContext", { targetId = node.id, replacement = vim.NIL }, function()
    notify.info(
      ("the model doesn't see “%s” any more. Move the leaf above the edit to have it back."):format(
        first(node.preview)
      )
    )
  end)
end

local function compact(panel, instructions)
  local params = { contextWindow = panel.session:window(), instructions = instructions }
  ask_long(panel, "compact", "session/compact", params, function(result)
    require("pi_daemon.views").compacted(panel.session, result)
  end)
end

function M.compact(panel)
  local session = panel.session
  ask(panel, "compact", "session/compactionPlan", { contextWindow = session:window() }, function(plan)
    if not plan.summarizer then
      return notify.warn("can't compact: there is nobody to write the summary.")
    end
    local prompt = ("Compact %s tokens to about %s and a summary by %s?"):format(
      text.number(plan.tokensBefore),
      text.number(plan.tokensKept),
      plan.summarizer
    )
    vim.ui.select(
      { "Compact", "Compact, and say what to look after", "Leave it" },
      { prompt = prompt },
      function(_, which)
        if which == 1 then
          compact(panel)
        elseif which == 2 then
          vim.ui.input({ prompt = "Look after: " }, function(words)
            if words then
              compact(panel, words ~= "" and words or nil)
            end
          end)
        end
      end
    )
  end)
end

--- Take back the compaction or the summary that this panel waits for.
function M.cancel(panel)
  if panel.busy and panel.cancel then
    panel.cancel()
  else
    notify.info("there is nothing to cancel.")
  end
end

function M.why(panel)
  local node = chosen(panel)
  if node then
    ask(panel, "explain the entry", "session/explain", { entryId = node.id }, function(found)
      require("pi_daemon.why").show(found, node)
    end)
  end
end

function M.entry(panel)
  local node = chosen(panel)
  if node then
    ask(panel, "show the entry", "session/entries", { ids = { node.id } }, function(found)
      require("pi_daemon.views").entry(found.entries[1], node)
    end)
  end
end

function M.context(panel)
  M.context_of(panel.session)
end

--- The float of what the model sees in a session, which need not have a panel.
function M.context_of(session)
  session:request("session/context", { format = "llm" }, function(problem, context)
    if problem then
      return notify.failed("show what the model sees", problem)
    end
    require("pi_daemon.views").context(session, context)
  end)
end

function M.sessions()
  require("pi_daemon.choose").sessions()
end

function M.search()
  require("pi_daemon.choose").search()
end

local FILTERS = {
  { "default", "the conversation" },
  { "noTools", "without tool results" },
  { "userOnly", "users' messages" },
  { "labeledOnly", "what bears a label" },
  { "all", "all entries" },
}

function M.filter(panel)
  local function shown(filter)
    return (filter[1] == panel.session.filter and "* " or "  ") .. filter[2]
  end
  vim.ui.select(FILTERS, { prompt = "Show", format_item = shown }, function(filter)
    if filter then
      panel.session.filter = filter[1]
      panel:bar()
      panel.session:refresh()
    end
  end)
end

function M.fold(panel)
  panel:toggle()
end

function M.fold_all(panel)
  panel:fold_all(true)
end

function M.open_all(panel)
  panel:fold_all(false)
end

function M.leaf(panel)
  if not panel:go_to(panel:leaf()) then
    notify.info("the leaf is before the first entry, or hidden by the filter.")
  end
end

function M.parent(panel)
  local node = panel:node()
  if node and not panel:go_to(node.parentId) then
    notify.info("this entry is a root.")
  end
end

function M.yank(panel)
  local node = chosen(panel)
  if node then
    vim.fn.setreg('"', node.id)
    notify.info("yanked " .. node.id .. ".")
  end
end

function M.refresh(panel)
  panel.session:resume()
end

function M.help()
  require("pi_daemon.float").open(require("pi_daemon.keys").help(), { title = "Keys of the branch panel" })
end

function M.close()
  if #vim.api.nvim_tabpage_list_wins(0) > 1 then
    vim.api.nvim_win_close(0, false)
  else
    vim.cmd.enew()
  end
end

return M
