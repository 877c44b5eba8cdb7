import { DAY_SECONDS, DAYS_OF_A_WRONG_CLOCK, MINUTE_SECONDS } from "../../core/windows.ts";

// The arithmetic of core/windows.ts and core/bans.ts once more, in Lua, because only there it is one atomic step for all
// instances. test/limits/conformance-histories.test.ts runs both through the same long histories and compares them.

/** How long the windows of a client stay after their day, so that a clock set back finds them. */
export const CLIENT_KEPT_SECONDS = DAY_SECONDS;
/** An address is kept for its day, and for the minute that may reach over midnight. */
export const ADDRESS_KEPT_SECONDS = MINUTE_SECONDS;
const QUESTIONS_KEPT_SECONDS = 2 * MINUTE_SECONDS;
const DAY_MS = DAY_SECONDS * 1000;

const CLOCK = `
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

const WINDOWS = `
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

const CONDUCT = `
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

/**
 * Requests of a key that came at once, one after the other: its ban, then both windows of its client, then its conduct if it is
 * refused. KEYS: windows, conduct. ARGV: clock, how many, perMinute, perDay, ban and number of lifts that the database knows,
 * whether they are free, strikes, how long they count, grace, ban minutes.
 */
const admit = `${CLOCK}${WINDOWS}
local now = clock(ARGV[1])
local perMinute, perDay, lifts = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local seconds = math.floor(now / 1000)
local windows = rolled(KEYS[1], seconds)
local ban = math.max(tonumber(ARGV[5]), number(redis.call("HGET", KEYS[2], "ban")))

-- How the key is judged, for a script that refuses: its conduct is read once and kept once, however many are refused.
local function judging()
  ${CONDUCT}
  local strikesAllowed, strikeWindow, grace = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
  local conduct = conductOf(KEYS[2])
  local strikes = recent(conduct.strikes, now, strikeWindow)
  local list, hasChanged = listOf(strikes), false
  local function refuse(reply, verdict)
    local resetAt = (verdict == 2 and (windows.day + 1) * ${DAY_SECONDS} or windows.minuteOpenedAt + ${MINUTE_SECONDS}) * 1000
    local isStrike, bannedUntil = 0, 0
    if conduct.windowResetAt ~= resetAt then
      conduct.windowResetAt, conduct.firstRefusedAt = resetAt, now
    elseif now - conduct.firstRefusedAt <= grace then
      return
    else
      isStrike = 1
      conduct.level, conduct.goodSince = levelAt(conduct, now), now
      strikes[#strikes + 1] = now
      list = list == "" and text(now) or list .. "," .. text(now)
      if #strikes >= strikesAllowed then
        local minutes = timesOf(ARGV[11])
        conduct.level = conduct.level + 1
        bannedUntil = now + minutes[math.min(conduct.level, #minutes)] * ${MINUTE_SECONDS * 1000}
        if verdict == 2 then bannedUntil = math.min(bannedUntil, resetAt) end
        strikes, list, conduct.goodSince, ban = {}, "", bannedUntil, bannedUntil
        redis.call("HSET", KEYS[2], "ban", text(bannedUntil))
      end
      conduct.strikes = strikes
    end
    hasChanged = true
    reply[7], reply[8] = bannedUntil, isStrike
    reply[9], reply[10] = conduct.windowResetAt, conduct.firstRefusedAt
    reply[11] = isStrike == 1 and list or listOf(conduct.strikes)
    reply[12], reply[13] = conduct.level, conduct.goodSince
  end
  return refuse, function() if hasChanged then keepConduct(KEYS[2], conduct, lifts, now, strikeWindow) end end
end

local replies, refuse, keepJudged = {}, nil, nil
for request = 1, tonumber(ARGV[2]) do
  local verdict = 0
  if ban > now then verdict = 3
  elseif ARGV[7] == "0" then verdict = counted(windows, perMinute, perDay, seconds) end
  local reply = { now, verdict, windows.minuteOpenedAt, windows.minuteCount, windows.day, windows.dayCount, ban }
  if verdict == 1 or verdict == 2 then
    if not refuse then refuse, keepJudged = judging() end
    refuse(reply, verdict)
  end
  replies[request] = reply
end
if keepJudged then keepJudged() end
if windows.hasChanged then keep(KEYS[1], windows, seconds, ${CLIENT_KEPT_SECONDS}) end
return replies
`;

/** One question about the limits. KEYS: windows, conduct, questions. ARGV: clock, ban that the database knows, both limits on questions. */
const ask = `${CLOCK}${WINDOWS}${CONDUCT}
local now = clock(ARGV[1])
local seconds = math.floor(now / 1000)
local questions = rolled(KEYS[3], seconds)
local verdict = counted(questions, tonumber(ARGV[3]), tonumber(ARGV[4]), seconds)
if questions.hasChanged then
  keep(KEYS[3], questions, seconds, 0)
  redis.call("EXPIRE", KEYS[3], ${QUESTIONS_KEPT_SECONDS})
end
local windows = rolled(KEYS[1], seconds)
if windows.hasChanged then keep(KEYS[1], windows, seconds, ${CLIENT_KEPT_SECONDS}) end
local ban = math.max(tonumber(ARGV[2]), number(redis.call("HGET", KEYS[2], "ban")))
local conduct = conductOf(KEYS[2])
return { now, verdict, windows.minuteOpenedAt, windows.minuteCount, windows.day, windows.dayCount, ban,
  questions.minuteOpenedAt, conduct.windowResetAt, conduct.firstRefusedAt, listOf(conduct.strikes), conduct.level, conduct.goodSince }
`;

/**
 * One request by its windows alone: one without a valid key, or of a client whose slot is on its way to another node. KEYS:
 * windows. ARGV: clock, perMinute, perDay, whether it is free, kept seconds after the day.
 */
const admitWindows = `${CLOCK}${WINDOWS}
local now = clock(ARGV[1])
local seconds = math.floor(now / 1000)
local windows = rolled(KEYS[1], seconds)
local verdict = 0
if ARGV[4] == "0" then verdict = counted(windows, tonumber(ARGV[2]), tonumber(ARGV[3]), seconds) end
if windows.hasChanged then keep(KEYS[1], windows, seconds, tonumber(ARGV[5])) end
return { now, verdict, windows.minuteOpenedAt, windows.minuteCount, windows.day, windows.dayCount, 0 }
`;

/**
 * What the database knows of a key's conduct, taken over where nothing is known here. A lift that is new here ends the ban
 * and does to the conduct what the lift did in the database; each lift acts once, so that no older knowledge undoes a newer ban.
 * KEYS: conduct. ARGV: clock, lifts, how long strikes count, the conduct, good since the lift.
 */
const introduce = `${CLOCK}${CONDUCT}
local now = clock(ARGV[1])
local lifts, strikeWindow, given = tonumber(ARGV[2]), tonumber(ARGV[3]), givenConduct(4)
if redis.call("EXISTS", KEYS[1]) == 0 then
  keepConduct(KEYS[1], given, lifts, now, strikeWindow)
elseif lifts > number(redis.call("HGET", KEYS[1], "lifts")) then
  local own = conductOf(KEYS[1])
  own.strikes, own.level, own.goodSince = {}, levelAt(own, given.goodSince), given.goodSince
  redis.call("DEL", KEYS[1])
  keepConduct(KEYS[1], own, lifts, now, strikeWindow)
end
return {}
`;

/**
 * Adds what an instance counted by itself while it could not reach Valkey. A minute that is over is left out, one that is
 * open here takes it, whenever it was opened there. KEYS: windows. ARGV: clock, kept seconds after the day, day, its count,
 * when the minute was opened, its count.
 */
const addWindows = `${CLOCK}${WINDOWS}
local now = clock(ARGV[1])
local seconds = math.floor(now / 1000)
local windows = rolled(KEYS[1], seconds)
local openedAt = tonumber(ARGV[5])
if tonumber(ARGV[3]) == windows.day then windows.dayCount = windows.dayCount + tonumber(ARGV[4]) end
if seconds < openedAt + ${MINUTE_SECONDS} then
  if windows.minuteCount == 0 then openMinute(windows, math.min(openedAt, seconds)) end
  windows.minuteCount = windows.minuteCount + tonumber(ARGV[6])
end
keep(KEYS[1], windows, seconds, tonumber(ARGV[2]))
return {}
`;

/**
 * Adds conduct that changed meanwhile: as \`worst\` of core/bans.ts, the most strikes and the highest level. What was earned
 * before a lift that has acted here is forgiven. KEYS: conduct. ARGV as of introduce.
 */
const addConduct = `${CLOCK}${CONDUCT}
local now = clock(ARGV[1])
local lifts, strikeWindow = tonumber(ARGV[2]), tonumber(ARGV[3])
local own, given = conductOf(KEYS[1]), givenConduct(4)
if lifts < number(redis.call("HGET", KEYS[1], "lifts")) then
  given.strikes, given.level, given.goodSince = {}, own.level, own.goodSince
end
local worst = #recent(given.strikes, now, strikeWindow) >= #recent(own.strikes, now, strikeWindow) and given or own
local highest = levelAt(given, now) >= levelAt(own, now) and given or own
local conduct = {
  windowResetAt = worst.windowResetAt, firstRefusedAt = worst.firstRefusedAt, strikes = worst.strikes,
  level = highest.level, goodSince = highest.goodSince,
}
keepConduct(KEYS[1], conduct, lifts, now, strikeWindow)
return {}
`;

/** Every script, as ioredis wants them. */
export const scripts = {
  admit: { lua: admit, numberOfKeys: 2 },
  ask: { lua: ask, numberOfKeys: 3 },
  admitWindows: { lua: admitWindows, numberOfKeys: 1 },
  introduce: { lua: introduce, numberOfKeys: 1 },
  addWindows: { lua: addWindows, numberOfKeys: 1 },
  addConduct: { lua: addConduct, numberOfKeys: 1 },
} as const;

export type ScriptName = keyof typeof scripts;
