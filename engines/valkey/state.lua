-- SPDX-License-Identifier: Apache-2.0
-- The store's records in Valkey: all that is done with them is done here, a verb at a time.
--
-- KEYS  1 meta     hash: epoch, layout, number (the last that was given away), changed (the last change), forgotten
--       2 names    sorted set, all scores 0: scope \0 kind \0 owner \0 key, in the order of its bytes
--       3 records  hash: name -> "VERSION SECRET KEY_ID DOCUMENT"
--       4 changes  sorted set: name -> number of the last change of a record that is there
--       5 gone     sorted set: name -> number of its deletion
--       6 stage    list: what a batch is going to write
-- ARGV  1 verb, 2 channel of notices; then the verb's own
--
-- Numbers are counted by the server's clock in microseconds, and always upwards: a number is never used twice, also
-- not in a store that was emptied, or that lost its last changes in a failover.

local meta, names, records, changes, gone, stage = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local call = redis.call

local function digits(number)
    return string.format('%.0f', number)
end

local function reserve(count)
    local now = call('TIME')
    local last = tonumber(call('HGET', meta, 'number') or '0')
    local first = math.max(last + 1, now[1] * 1000000 + now[2])
    call('HSET', meta, 'number', digits(first + count - 1))
    return first
end

local function version_of(value)
    return value and string.match(value, '^%d+') or '0'
end

local function is_as_seen(value, seen)
    return seen == '*' or version_of(value) == seen
end

-- What a name begins with that belongs to the same owner: the names between these two are the owner's.
local function own_range(name)
    local prefix = string.match(name, '^(.*%z)')
    return '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '\1'
end

local function begin(epoch)
    if call('HSETNX', meta, 'epoch', epoch) == 1 then
        call('HSET', meta, 'layout', '1')
    end
end

local function changed(number)
    call('HSET', meta, 'changed', digits(number))
    call('PUBLISH', ARGV[2], digits(number))
end

local function write(name, value, number)
    call('HSET', records, name, value)
    call('ZADD', names, 0, name)
    call('ZADD', changes, digits(number), name)
    call('ZREM', gone, name)
end

local verbs = {}

-- Begin: what kind of store it is.
function verbs.hello()
    return { call('HGET', meta, 'layout'), call('HGET', meta, 'epoch') }
end

function verbs.get(name)
    return call('HGET', records, name)
end

-- A page: the names between two bounds, with their records.
function verbs.page(low, high, most, most_bytes)
    local found = call('ZRANGEBYLEX', names, low, high, 'LIMIT', 0, most + 1)
    local page, bytes, more = {}, 0, 0
    for _, name in ipairs(found) do
        if #page >= 2 * most or bytes > tonumber(most_bytes) then
            more = 1
            break
        end
        local value = call('HGET', records, name)
        if value then
            page[#page + 1] = name
            page[#page + 1] = value
            bytes = bytes + #value
        end
    end
    return { more, call('HGET', meta, 'epoch') or '', page }
end

-- Give numbers away, for records that are sealed with theirs before they are written.
function verbs.reserve(count)
    return digits(reserve(tonumber(count)))
end

-- `version` empty: the next one. Else one that was reserved; it is refused if there is a newer one meanwhile.
function verbs.put(name, seen, version, rest, epoch, most, most_own)
    local there = call('HGET', records, name)
    if not is_as_seen(there, seen) then
        return { 'conflict', there or '' }
    end
    if version ~= '' and tonumber(version_of(there)) >= tonumber(version) then
        return { 'again' }
    end
    if not there then
        local low, high = own_range(name)
        if call('ZCARD', names) >= tonumber(most) then
            return { 'full' }
        elseif call('ZLEXCOUNT', names, low, high) >= tonumber(most_own) then
            return { 'full_own' }
        end
    end
    begin(epoch)
    local number = reserve(1)
    if version == '' then
        version = digits(number)
    end
    write(name, version .. rest, number)
    changed(number)
    return { 'ok', version }
end

function verbs.delete(name, seen, most_gone)
    local there = call('HGET', records, name)
    if not there and (seen == '*' or seen == '0') then
        return { 'missing' }
    elseif not is_as_seen(there, seen) then
        return { 'conflict', there or '' }
    end
    local number = reserve(1)
    call('HDEL', records, name)
    call('ZREM', names, name)
    call('ZREM', changes, name)
    call('ZADD', gone, digits(number), name)
    local over = call('ZCARD', gone) - most_gone
    if over > 0 then
        local last = call('ZRANGE', gone, over - 1, over - 1, 'WITHSCORES')
        call('HSET', meta, 'forgotten', digits(tonumber(last[2])))
        call('ZREMRANGEBYRANK', gone, 0, over - 1)
    end
    changed(number)
    return { 'ok' }
end

-- What has changed behind number `seen` in the store `epoch`; `seen` empty: somebody begins to watch.
function verbs.look(epoch, seen, most)
    local now = call('HGET', meta, 'epoch') or ''
    local last = tonumber(call('HGET', meta, 'changed') or '0')
    local forgotten = tonumber(call('HGET', meta, 'forgotten') or '0')
    if epoch ~= '' and epoch ~= now then
        return { 'other', now, digits(last), {} }
    end
    local from = tonumber(seen)
    if not from or from < forgotten or from > last then
        return { 'all', now, digits(last), {} }
    end
    local events = {}
    for _, source in ipairs({ changes, gone }) do
        local found = call('ZRANGEBYSCORE', source, '(' .. digits(from), '+inf', 'WITHSCORES', 'LIMIT', 0, most + 1)
        for i = 1, #found, 2 do
            events[#events + 1] = { name = found[i], number = tonumber(found[i + 1]), is_gone = source == gone }
        end
    end
    table.sort(events, function(a, b) return a.number < b.number end)
    local told, more = {}, 0
    for _, event in ipairs(events) do
        if #told >= 3 * most then
            more, last = 1, from
            break
        end
        told[#told + 1] = event.name
        told[#told + 1] = event.is_gone and '1' or '0'
        told[#told + 1] = event.is_gone and digits(event.number) or version_of(call('HGET', records, event.name))
        from = event.number
    end
    return { 'changes', now, digits(last), told, more }
end

-- The records of a number of names.
function verbs.find(...)
    return call('HMGET', records, ...)
end

-- Put a part of a batch on the stage, which nobody else knows: groups of name, seen, value, behind the first `at` texts.
-- It goes by itself.
function verbs.stage(at, ...)
    if at == '0' then
        call('DEL', stage)
    end
    for _, text in ipairs({ ... }) do
        call('RPUSH', stage, text)
    end
    call('EXPIRE', stage, 60)
    return call('LLEN', stage)
end

-- Write what is on the stage, all or nothing.
function verbs.commit(count, epoch, most, most_own)
    local total, added, own = tonumber(count), 0, {}
    local function each(visit)
        for from = 0, 3 * total - 1, 3000 do
            local part = call('LRANGE', stage, from, from + 2999)
            for i = 1, #part, 3 do
                local refused = visit(part[i], part[i + 1], part[i + 2])
                if refused then
                    return refused
                end
            end
        end
    end
    if call('LLEN', stage) ~= 3 * total then
        return { 'again' }
    end
    local refused = each(function(name, seen, value)
        local there = call('HGET', records, name)
        if not is_as_seen(there, seen) or tonumber(version_of(there)) >= tonumber(version_of(value)) then
            return { 'again' }
        elseif not there then
            local low, high = own_range(name)
            own[low] = (own[low] or call('ZLEXCOUNT', names, low, high)) + 1
            added = added + 1
            if own[low] > tonumber(most_own) then
                return { 'full_own', name }
            end
        end
    end)
    if not refused and call('ZCARD', names) + added > tonumber(most) then
        refused = { 'full' }
    end
    if not refused then
        begin(epoch)
        local number = reserve(total)
        each(function(name, _, value)
            write(name, value, number)
            number = number + 1
        end)
        changed(number - 1)
    end
    call('DEL', stage)
    return refused or { 'ok' }
end

-- May one more come? GCRA: a key holds the time at which all that was asked for would have been due. Groups of key,
-- microseconds between two that are due, how many may come at once; all of them, or none, is charged. Returns how many
-- microseconds to wait, and which group says so.
function verbs.take(...)
    local given, due = { ... }, {}
    local now = call('TIME')
    now = now[1] * 1000000 + now[2]
    for i = 1, #given, 3 do
        local interval = tonumber(given[i + 1])
        due[i] = math.max(tonumber(call('GET', given[i]) or '0'), now) + interval
        local wait = due[i] - given[i + 2] * interval - now
        if wait >= 1 then
            return { digits(wait), digits((i - 1) / 3) }
        end
    end
    for i = 1, #given, 3 do
        call('SET', given[i], digits(due[i]), 'PX', digits(math.ceil((due[i] - now) / 1000)))
    end
    return { '0', '0' }
end

return verbs[ARGV[1]](unpack(ARGV, 3))
