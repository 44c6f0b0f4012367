--- The base protocol of language servers: a `Content-Length` header before each JSON text. No IO here.

local M = {}

local HEADER_BYTES = 4096

--- The bytes of one message.
function M.encode(message)
  local body = vim.json.encode(message)
  return ("Content-Length: %d\r\n\r\n%s"):format(#body, body)
end

--- A function that takes bytes as they come and calls `take` with each whole body. It raises an error for a header that
--- tells no length: where the next message begins can't be told then.
function M.reader(take)
  local chunks, size, wanted = {}, 0, nil

  local function joined()
    local all = #chunks == 1 and chunks[1] or table.concat(chunks)
    chunks = { all }
    return all
  end

  local function keep(rest)
    chunks, size = { rest }, #rest
  end

  return function(bytes)
    chunks[#chunks + 1] = bytes
    size = size + #bytes
    while true do
      if not wanted then
        local all = joined()
        local from, to = all:find("\r\n\r\n", 1, true)
        if not from then
          if size > HEADER_BYTES then
            error("what answers is no pi-daemon: it sent no header", 0)
          end
          return
        end
        local length = ("\n" .. all:sub(1, from)):lower():match("\ncontent%-length:%s*(%d+)")
        if not length then
          error("what answers is no pi-daemon: its header tells no length", 0)
        end
        wanted = tonumber(length)
        keep(all:sub(to + 1))
      end
      if size < wanted then
        return
      end
      local all = joined()
      local body = all:sub(1, wanted)
      keep(all:sub(wanted + 1))
      wanted = nil
      take(body)
    end
  end
end

--- U+FFFD for each half of a surrogate pair that stands alone: sessions may hold them, and Neovim's decoder takes none.
local function without_lone_surrogates(body)
  local parts, from, at = {}, 1, 1
  while true do
    local slash = body:find("\\", at, true)
    if not slash then
      break
    end
    local unit = tonumber(body:match("^u(%x%x%x%x)", slash + 1) or "", 16)
    local step = unit and 6 or 2
    if unit and unit >= 0xD800 and unit <= 0xDFFF then
      local low = tonumber(body:match("^\\u(%x%x%x%x)", slash + 6) or "", 16)
      if unit < 0xDC00 and low and low >= 0xDC00 and low <= 0xDFFF then
        step = 12
      else
        parts[#parts + 1] = body:sub(from, slash - 1)
        parts[#parts + 1] = "\\ufffd"
        from = slash + 6
      end
    end
    at = slash + step
  end
  parts[#parts + 1] = body:sub(from)
  return table.concat(parts)
end

--- The message in a body; members that are null are absent. Raises an error where it is no JSON.
function M.decode(body)
  local options = { luanil = { object = true } }
  local fine, message = pcall(vim.json.decode, body, options)
  if fine then
    return message
  end
  return vim.json.decode(without_lone_surrogates(body), options)
end

return M
