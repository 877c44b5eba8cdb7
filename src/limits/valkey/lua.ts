import { DAY_MS, DAY_SECONDS } from "../../contract/days.ts";
import { DAYS_OF_A_WRONG_CLOCK, MINUTE_SECONDS } from "../../core/windows.ts";

// What the scripts are made of: functions in Lua.

export const CLOCK = `
local function number(value) return tonumber(value) or 0 end
local function text(value) return string.format("%.0f", value) end
-- The same for seconds and counts, in a third of the time.
local function count(value) return string.format("%d", value) end

-- Valkey's own clock is the only one, except where a test moves time by hand.
local function clock(given)
  if given ~= "" then return tonumber(given) end
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

export const WINDOWS = `
local function rolled(key, seconds)
  local field = redis.call("HMGET", key, "minuteOpenedAt", "minuteCount", "day", "dayCount")
  local windows = {
    minuteOpenedAt = number(field[1]), minuteCount = number(field[2]), day = number(field[3]), dayCount = number(field[4]),
  }
  local isOver = seconds >= windows.minuteOpenedAt + ${MINUTE_SECONDS} or seconds < windows.minuteOpenedAt
  if isOver and windows.minuteCount > 0 then
    windows.minuteCount = 0
    windows.hasChanged = true
  end
  local day = math.floor(seconds / ${DAY_SECONDS})
  if day > windows.day or day <= windows.day - ${DAYS_OF_A_WRONG_CLOCK} then
    windows.day = day
    windows.dayCount = 0
    windows.hasChanged = true
    windows.isNewDay = true
  end
  return windows
end

-- The expiry is that of the day: it is set once a day and stays.
local function keep(key, windows, seconds, keptSeconds)
  redis.call("HSET", key, "minuteCount", count(windows.minuteCount), "dayCount", count(windows.dayCount))
  if windows.isNewMinute then redis.call("HSET", key, "minuteOpenedAt", count(windows.minuteOpenedAt)) end
  if windows.isNewDay then
    redis.call("HSET", key, "day", count(windows.day))
    redis.call("EXPIRE", key, count((windows.day + 1) * ${DAY_SECONDS} - seconds + keptSeconds))
  end
end

local function openMinute(windows, seconds)
  windows.minuteOpenedAt = seconds
  windows.isNewMinute = true
end

local function counted(windows, perMinute, perDay, seconds)
  if windows.dayCount >= perDay then return 2 end
  if windows.minuteCount >= perMinute then return 1 end
  if windows.minuteCount == 0 then openMinute(windows, seconds) end
  windows.minuteCount = windows.minuteCount + 1
  windows.dayCount = windows.dayCount + 1
  windows.hasChanged = true
  return 0
end
`;

export const CONDUCT = `
local function timesOf(list)
  local times = {}
  for at in string.gmatch(list or "", "%d+") do times[#times + 1] = tonumber(at) end
  return times
end

local function conductOf(key)
  local field = redis.call("HMGET", key, "windowResetAt", "firstRefusedAt", "strikes", "level", "goodSince")
  return {
    windowResetAt = number(field[1]), firstRefusedAt = number(field[2]), strikes = timesOf(field[3] or ""),
    level = number(field[4]), goodSince = number(field[5]),
  }
end

local function givenConduct(first)
  return {
    windowResetAt = tonumber(ARGV[first]), firstRefusedAt = tonumber(ARGV[first + 1]), strikes = timesOf(ARGV[first + 2]),
    level = tonumber(ARGV[first + 3]), goodSince = tonumber(ARGV[first + 4]),
  }
end

local function recent(strikes, now, strikeWindow)
  local kept = {}
  for _, at in ipairs(strikes) do
    if at > now - strikeWindow then kept[#kept + 1] = at end
  end
  return kept
end

local function levelAt(conduct, now)
  local goodDays = math.max(0, math.floor((now - conduct.goodSince) / ${DAY_MS}))
  return math.max(0, conduct.level - goodDays)
end

local function listOf(strikes)
  local list = {}
  for index, at in ipairs(strikes) do list[index] = text(at) end
  return table.concat(list, ",")
end

-- Nothing is left of it when the window is over, no strike counts any more and every level is worked off.
local function conductEnds(conduct, strikeWindow)
  local ends = math.max(conduct.windowResetAt, conduct.goodSince + conduct.level * ${DAY_MS})
  for _, at in ipairs(conduct.strikes) do ends = math.max(ends, at + strikeWindow) end
  return ends
end

local function keepConduct(key, conduct, lifts, now, strikeWindow)
  redis.call("HSET", key, "windowResetAt", text(conduct.windowResetAt), "firstRefusedAt", text(conduct.firstRefusedAt),
    "strikes", listOf(conduct.strikes), "level", text(conduct.level), "goodSince", text(conduct.goodSince))
  redis.call("HSETNX", key, "lifts", text(lifts))
  redis.call("PEXPIRE", key, text(math.max(conductEnds(conduct, strikeWindow) - now, 0) + ${MINUTE_SECONDS * 1000}))
end
`;

/** With CONDUCT before it. */
export const JOINED = `
-- What two know of one key, put together: the most strikes, unless one of them knows of a ban that the other does not, which clears
-- the strikes that it was earned with. Where both know as much it is the first's.
local function joined(one, other, now, strikeWindow)
  local level, otherLevel = levelAt(one, now), levelAt(other, now)
  if otherLevel > level then return other end
  if otherLevel < level or #recent(other.strikes, now, strikeWindow) <= #recent(one.strikes, now, strikeWindow) then return one end
  return {
    windowResetAt = other.windowResetAt, firstRefusedAt = other.firstRefusedAt, strikes = other.strikes,
    level = one.level, goodSince = one.goodSince,
  }
end
`;
