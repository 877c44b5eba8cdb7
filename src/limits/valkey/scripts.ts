import { DAY_SECONDS } from "../../contract/days.ts";
import { MINUTE_SECONDS } from "../../core/windows.ts";
import { CLOCK, CONDUCT, JOINED, WINDOWS } from "./lua.ts";

// The arithmetic of core/windows.ts and core/bans.ts once more, in Lua, because only there it is one atomic step for all
// instances. test/limits/conformance-histories.test.ts runs both through the same long histories and compares them.

/** How long the windows of a client stay after their day, so that a clock set back finds them. */
export const CLIENT_KEPT_SECONDS = DAY_SECONDS;
/** An address is kept for its day, and for the minute that may reach over midnight. */
export const ADDRESS_KEPT_SECONDS = MINUTE_SECONDS;
const QUESTIONS_KEPT_SECONDS = 2 * MINUTE_SECONDS;

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
 * What the database knows of a key's conduct, taken over where it is more than is known here: of a key that is new here, or one
 * that was judged by an instance which was stopped before it could tell. A lift that is new here ends the ban
 * and does to the conduct what the lift did in the database; each lift acts once, so that no older knowledge undoes a newer ban.
 * KEYS: conduct. ARGV: clock, lifts, how long strikes count, the conduct, good since the lift.
 */
const introduce = `${CLOCK}${CONDUCT}${JOINED}
local now = clock(ARGV[1])
local lifts, strikeWindow, given = tonumber(ARGV[2]), tonumber(ARGV[3]), givenConduct(4)
if redis.call("EXISTS", KEYS[1]) == 0 then
  keepConduct(KEYS[1], given, lifts, now, strikeWindow)
  return {}
end
local own, ownLifts = conductOf(KEYS[1]), number(redis.call("HGET", KEYS[1], "lifts"))
if lifts == ownLifts then
  local conduct = joined(own, given, now, strikeWindow)
  if conduct ~= own then keepConduct(KEYS[1], conduct, lifts, now, strikeWindow) end
elseif lifts > ownLifts then
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
 * Adds conduct that an instance judged by itself while it could not reach Valkey, and the ban that it gave: the database may not
 * have it yet. What was earned before a lift that has acted here is forgiven. KEYS: conduct. ARGV as of introduce, and the ban.
 */
const addConduct = `${CLOCK}${CONDUCT}${JOINED}
local now = clock(ARGV[1])
local lifts, strikeWindow = tonumber(ARGV[2]), tonumber(ARGV[3])
local own, given = conductOf(KEYS[1]), givenConduct(4)
if lifts < number(redis.call("HGET", KEYS[1], "lifts")) then
  given.strikes, given.level, given.goodSince = {}, own.level, own.goodSince
elseif tonumber(ARGV[9]) > number(redis.call("HGET", KEYS[1], "ban")) then
  redis.call("HSET", KEYS[1], "ban", ARGV[9])
end
keepConduct(KEYS[1], joined(given, own, now, strikeWindow), lifts, now, strikeWindow)
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
