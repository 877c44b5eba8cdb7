// What is sent, as Lua for wrk. Requests are put together from texts made once, so that wrk is never the slow one.

/** Random pets, asked for by id. */
export function petsById(key: string, pets: number): string {
  return `${head("GET /store/pets/", headersOf(key))}
request = function() return head .. math.random(${pets}) .. tail end`;
}

/** Random pets, each request with a random one of the keys in a file. */
export function petsByManyKeys(keyFile: string, pets: number): string {
  return `${keysOf(keyFile)}
request = function() return withKey("/store/pets/" .. math.random(${pets}), math.random(keys)) end`;
}

/** A pet for one key after another, from the one at this place in the file on. */
export function petByKeysInOrder(keyFile: string, from: number): string {
  return `${keysOf(keyFile)}
local at = ${from}
request = function()
  at = at + 1
  return withKey("/store/pets/1", (at - 1) % keys + 1)
end`;
}

/** What a file of keys holds. */
export const keyLines = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join("");

/** All keys stay one text, and one is cut out of it: of a million texts wrk would collect garbage for half of the time. */
function keysOf(file: string): string {
  return `
local file = io.open(${JSON.stringify(file)})
local lines = file:read("*a")
file:close()
local width = lines:find("\\n")
local keys = #lines / width
local function withKey(path, n)
  local key = lines:sub((n - 1) * width + 1, n * width - 1)
  return "GET " .. path .. " HTTP/1.1\\r\\nHost: bench\\r\\nX-API-Key: " .. key .. "\\r\\n\\r\\n"
end`;
}

/** Random ones of some addresses. */
export function addresses(key: string, paths: readonly string[]): string {
  return `${head("GET ", headersOf(key))}
local paths = { ${paths.map((path) => JSON.stringify(path)).join(", ")} }
request = function() return head .. paths[math.random(#paths)] .. tail end`;
}

/** Orders of random pets, each with an idempotency key of its own. */
export function orders(key: string, pets: number): string {
  return `${ordering(key, pets)}
request = order`;
}

/** Nine reads for one order. */
export function mixed(key: string, pets: number): string {
  return `${ordering(key, pets)}
${head("GET /store/pets/", headersOf(key))}
request = function()
  if math.random(10) == 1 then return order() end
  return head .. math.random(${pets}) .. tail
end`;
}

function headersOf(key: string): string {
  return `Host: bench\\r\\nX-API-Key: ${key}\\r\\n`;
}

function head(start: string, headers: string): string {
  return `
local head = "${start}"
local tail = " HTTP/1.1\\r\\n${headers}\\r\\n"`;
}

/** Every tenth pet is sold out (see fill.ts), so an id that ends in 0 is never ordered. */
function ordering(key: string, pets: number): string {
  return `
local orders = 0
local start = "POST /store/orders HTTP/1.1\\r\\n${headersOf(key)}Content-Type: application/json\\r\\nIdempotency-Key: " .. run .. "-"
local function order()
  orders = orders + 1
  local body = '{"petId":' .. (math.random(${pets / 10}) * 10 - math.random(9)) .. ',"quantity":1}'
  return start .. orders .. "\\r\\nContent-Length: " .. #body .. "\\r\\n\\r\\n" .. body
end`;
}
