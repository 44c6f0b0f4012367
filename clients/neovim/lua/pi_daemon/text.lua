--- Text from sessions, made fit for buffers: whatever it holds, a line stays a line and a control character harmless.

local M = {}

--- Bytes of a line in a buffer: longer ones are cut into several, for Neovim draws them slowly.
local LINE_BYTES = 2000

local function visible(character)
  local byte = character:byte()
  return byte == 0x7F and "␡" or vim.fn.nr2char(0x2400 + byte)
end

--- One line: runs of white space become a blank, control characters are shown.
function M.line(text)
  local flat = tostring(text):gsub("\226\128[\168\169]", " "):gsub("\194[\128-\159]", "�")
  flat = flat:gsub("%s+", " "):gsub("[%z\1-\31\127]", visible)
  return vim.trim(flat)
end

--- Where to cut a line that is too long: not within a character.
local function cut(line, from)
  local to = from + LINE_BYTES - 1
  while to > from and line:byte(to + 1) and line:byte(to + 1) >= 0x80 and line:byte(to + 1) < 0xC0 do
    to = to - 1
  end
  return to
end

--- The lines of a text.
function M.lines(text)
  local result = {}
  local even = tostring(text):gsub("\r\n", "\n"):gsub("\r", "\n"):gsub("\194[\128-\159]", "�")
  for line in vim.gsplit(even, "\n", { plain = true }) do
    line = line:gsub("[%z\1-\8\11-\31\127]", visible)
    if #line <= LINE_BYTES then
      result[#result + 1] = line
    else
      local from = 1
      while from <= #line do
        local to = cut(line, from)
        result[#result + 1] = line:sub(from, to)
        from = to + 1
      end
    end
  end
  return result
end

--- At most `width` columns of a line.
function M.shortened(line, width)
  if vim.fn.strdisplaywidth(line) <= width then
    return line
  end
  local kept = vim.fn.strcharpart(line, 0, width - 1)
  while vim.fn.strdisplaywidth(kept) > width - 1 do
    kept = vim.fn.strcharpart(kept, 0, vim.fn.strchars(kept) - 1)
  end
  return kept .. "…"
end

--- For a 'statusline' or 'winbar', where a percent sign means something.
function M.bar(text)
  return (M.line(text):gsub("%%", "%%%%"))
end

--- 1,234,567
function M.number(value)
  local digits = ("%d"):format(math.floor(value + 0.5))
  local grouped = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (grouped:gsub("^,", ""):gsub("^%-,", "-"))
end

--- 950, 34.1k, 1.2M
function M.short_number(value)
  if value >= 1e6 then
    return ("%.1fM"):format(value / 1e6)
  end
  return value >= 1e3 and ("%.1fk"):format(value / 1e3) or ("%d"):format(value)
end

--- "1 entry", "2 entries"
function M.count(number, one, many)
  return M.number(number) .. " " .. (number == 1 and one or many or one .. "s")
end

return M
