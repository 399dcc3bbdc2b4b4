-- SPDX-License-Identifier: Apache-2.0
-- May somebody ask for one more? GCRA by the server's clock: a key holds the time at which all that was asked for
-- would have been due. Several limits at once: all of them, or none, is charged.
--
-- KEYS  a limit each
-- ARGV  two for each: microseconds between two that are due, how many may come at once
-- Returns how many microseconds to wait and which limit says so (1 for the first), or 0 and 0.

local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]

local due = {}
for i, key in ipairs(KEYS) do
    local interval, at_once = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    local last = math.max(tonumber(redis.call('GET', key) or '0'), now)
    due[i] = last + interval
    local wait = due[i] - at_once * interval - now
    if wait > 0 then
        return { string.format('%.0f', math.ceil(wait)), i }
    end
end
for i, key in ipairs(KEYS) do
    redis.call('SET', key, string.format('%.0f', due[i]), 'PX', string.format('%.0f', math.ceil((due[i] - now) / 1000)))
end
return { '0', 0 }
