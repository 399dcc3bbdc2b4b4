/* SPDX-License-Identifier: Apache-2.0 */
#include "zone.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 44

/* The six counts of a TZif header, in file order. */
typedef struct tzif_header {
    char version;
    uint32_t utc_count;
    uint32_t std_count;
    uint32_t leap_count;
    uint32_t transition_count;
    uint32_t type_count;
    uint32_t abbrev_bytes;
} tzif_header;

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t read_i64(const unsigned char *at)
{
    uint64_t value = (uint64_t)read_u32(at) << 32 | read_u32(at + 4);
    return value <= INT64_MAX ? (int64_t)value : -(int64_t)(UINT64_MAX - value) - 1;
}

static int32_t read_i32(const unsigned char *at)
{
    uint32_t value = read_u32(at);
    return value <= INT32_MAX ? (int32_t)value : -(int32_t)(UINT32_MAX - value) - 1;
}

static int read_header(const unsigned char *bytes, size_t len, tzif_header *ret_header)
{
    if (len < HEADER_BYTES || memcmp(bytes, "TZif", 4) != 0) {
        return 0;
    }
    ret_header->version = (char)bytes[4];
    ret_header->utc_count = read_u32(bytes + 20);
    ret_header->std_count = read_u32(bytes + 24);
    ret_header->leap_count = read_u32(bytes + 28);
    ret_header->transition_count = read_u32(bytes + 32);
    ret_header->type_count = read_u32(bytes + 36);
    ret_header->abbrev_bytes = read_u32(bytes + 40);
    return 1;
}

/* The bytes after a header; 64 bits, so that hostile counts cannot wrap around. */
static uint64_t body_bytes(const tzif_header *header, uint64_t time_bytes)
{
    return header->transition_count * (time_bytes + 1) + (uint64_t)header->type_count * 6 +
           header->abbrev_bytes + header->leap_count * (time_bytes + 4) + header->std_count +
           header->utc_count;
}

static int check_header(const tzif_header *header, time_problem *problem)
{
    if (header->leap_count != 0) {
        return time_refuse(problem, "it counts leap seconds, which POSIX time does not");
    }
    if (header->transition_count > TIME_ZONE_TRANSITIONS || header->type_count == 0 ||
        header->type_count > TIME_ZONE_TYPES || header->abbrev_bytes == 0 ||
        header->abbrev_bytes > TIME_ZONE_ABBREV_BYTES) {
        return time_refuse(problem, "it has %u transitions, %u types and %u bytes of abbreviations",
                           header->transition_count, header->type_count, header->abbrev_bytes);
    }
    if ((header->std_count != 0 && header->std_count != header->type_count) ||
        (header->utc_count != 0 && header->utc_count != header->type_count)) {
        return time_refuse(problem, "its counts contradict each other");
    }
    return 1;
}

static int read_transitions(time_zone *zone, const unsigned char *at, time_problem *problem)
{
    const unsigned char *types = at + zone->transition_count * 8;
    for (size_t i = 0; i < zone->transition_count; i++) {
        zone->transitions[i] = read_i64(at + i * 8);
        zone->type_after[i] = types[i];
        if (i > 0 && zone->transitions[i] <= zone->transitions[i - 1]) {
            return time_refuse(problem, "its transitions are not in order");
        }
        if (types[i] >= zone->type_count) {
            return time_refuse(problem, "a transition leads to a type that is not there");
        }
    }
    return 1;
}

static int read_types(time_zone *zone, const unsigned char *at, size_t abbrev_bytes,
                      time_problem *problem)
{
    const unsigned char *abbrevs = at + zone->type_count * 6;
    if (abbrevs[abbrev_bytes - 1] != '\0') {
        return time_refuse(problem, "its abbreviations do not end");
    }
    memcpy(zone->abbrevs, abbrevs, abbrev_bytes);
    for (size_t i = 0; i < zone->type_count; i++, at += 6) {
        zone->types[i].offset = read_i32(at);
        zone->types[i].is_dst = at[4];
        zone->types[i].abbrev = at[5];
        if (zone->types[i].offset < TIME_OFFSET_MIN || zone->types[i].offset > TIME_OFFSET_MAX ||
            at[4] > 1 || at[5] >= abbrev_bytes) {
            return time_refuse(problem, "type %zu is out of range", i);
        }
    }
    /* Abbreviations reach JSON and format(): nothing but printable ASCII. */
    for (size_t i = 0; i < abbrev_bytes; i++) {
        if (abbrevs[i] != '\0' && (abbrevs[i] < ' ' || abbrevs[i] > '~')) {
            return time_refuse(problem, "an abbreviation is not ASCII");
        }
    }
    return 1;
}

static int read_footer(time_zone *zone, const unsigned char *at, size_t len, time_problem *problem)
{
    char text[TIME_ZONE_RULE_BYTES];
    const unsigned char *end =
        len > 1 && at[0] == '\n' ? (const unsigned char *)memchr(at + 1, '\n', len - 1) : NULL;
    if (end == NULL || (size_t)(end - at) > sizeof text) {
        return time_refuse(problem, "it has no footer");
    }
    size_t text_len = (size_t)(end - at) - 1;
    memcpy(text, at + 1, text_len);
    text[text_len] = '\0';
    return time_rule_parse(&zone->rule, text, problem);
}

int time_zone_read(time_zone *zone, const char *name, const unsigned char *bytes, size_t len,
                   time_problem *problem)
{
    tzif_header header;
    memset(zone, 0, sizeof *zone);
    (void)snprintf(zone->name, sizeof zone->name, "%s", name);
    if (!read_header(bytes, len, &header)) {
        return time_refuse(problem, "it is not a TZif file");
    }
    if (header.version < '2') {
        return time_refuse(problem, "it is TZif version 1, which ends in 2037");
    }
    /* The 32-bit block in front is for readers of version 1. */
    uint64_t skip = HEADER_BYTES + body_bytes(&header, 4);
    if (skip > len || !read_header(bytes + skip, len - (size_t)skip, &header)) {
        return time_refuse(problem, "it is cut short");
    }
    bytes += skip + HEADER_BYTES;
    len -= (size_t)skip + HEADER_BYTES;
    if (!check_header(&header, problem)) {
        return 0;
    }
    uint64_t body = body_bytes(&header, 8);
    if (body > len) {
        return time_refuse(problem, "it is cut short");
    }
    zone->transition_count = header.transition_count;
    zone->type_count = header.type_count;
    return read_transitions(zone, bytes, problem) &&
           read_types(zone, bytes + zone->transition_count * 9, header.abbrev_bytes, problem) &&
           read_footer(zone, bytes + body, len - (size_t)body, problem);
}

void time_offset_text(int32_t offset, char *text)
{
    unsigned magnitude = (unsigned)(offset < 0 ? -offset : offset) % 360000;
    int len = snprintf(text, 10, "%c%02u:%02u", offset < 0 ? '-' : '+', magnitude / 3600,
                       magnitude / 60 % 60);
    if (magnitude % 60 != 0) {
        (void)snprintf(text + len, (size_t)(10 - len), ":%02u", magnitude % 60);
    }
}

void time_zone_fixed(time_zone *zone, const char *abbrev, int32_t offset)
{
    memset(zone, 0, sizeof *zone);
    zone->rule.is_set = 1;
    zone->rule.std_offset = offset;
    time_offset_text(offset, zone->name);
    if (abbrev != NULL) {
        (void)snprintf(zone->name, sizeof zone->name, "%s", abbrev);
    }
    (void)snprintf(zone->rule.std_abbrev, sizeof zone->rule.std_abbrev, "%.31s", zone->name);
}

time_local time_zone_at(const time_zone *zone, int64_t seconds)
{
    size_t low = 0; /* the number of transitions that are not after `seconds` */
    size_t high = zone->transition_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->transitions[middle] <= seconds) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == zone->transition_count && zone->rule.is_set) {
        return time_rule_at(&zone->rule, seconds);
    }
    /* Type 0 is what holds before the first transition (RFC 8536 section 3.2). */
    const time_type *type = &zone->types[low > 0 ? zone->type_after[low - 1] : 0];
    return (time_local){
        .offset = type->offset, .is_dst = type->is_dst, .abbrev = zone->abbrevs + type->abbrev};
}

/* Offsets that a wall clock can have had around a local time. */
typedef struct offset_set {
    int32_t offsets[8];
    size_t count;
} offset_set;

static void add_offset(offset_set *set, int32_t offset)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->offsets[i] == offset) {
            return;
        }
    }
    if (set->count < sizeof set->offsets / sizeof set->offsets[0]) {
        set->offsets[set->count++] = offset;
    }
}

time_resolution time_zone_resolve(const time_zone *zone, int64_t local_seconds)
{
    time_resolution result = {0};
    offset_set set = {0};
    /* Surely before and surely after any change that could matter, since no offset is larger. */
    add_offset(&set, time_zone_at(zone, local_seconds - TIME_OFFSET_MAX).offset);
    add_offset(&set, time_zone_at(zone, local_seconds - TIME_OFFSET_MIN).offset);
    /* Each offset leads to an instant; when another offset is in force there, try that too. */
    for (size_t i = 0; i < set.count; i++) {
        int64_t seconds = local_seconds - set.offsets[i];
        int32_t in_force = time_zone_at(zone, seconds).offset;
        if (in_force != set.offsets[i]) {
            add_offset(&set, in_force);
        } else if (result.count == 0 || seconds > result.seconds[0]) {
            result.seconds[result.count > 0] = seconds;
            result.count = 1 + (result.count > 0);
        } else {
            result.seconds[1] = result.seconds[0];
            result.seconds[0] = seconds;
            result.count = 2;
        }
    }
    if (result.count == 0) {
        /* In a gap: counting with the offset before it lands as far behind it. */
        int32_t before = set.offsets[0];
        for (size_t i = 1; i < set.count; i++) {
            before = set.offsets[i] < before ? set.offsets[i] : before;
        }
        result.seconds[0] = local_seconds - before;
    }
    return result;
}
