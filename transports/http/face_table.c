/* SPDX-License-Identifier: Apache-2.0 */
#include "http/face_table.h"

#include "base/encoding.h"
#include "http/syntax.h"

#include <stdio.h>
#include <stdlib.h>

struct hub_http_face_table {
    hub_http_face_row *rows; /* in the order of their paths, those of one path together */
    size_t row_count;
    hub_http_place *places; /* in the order of their paths, byte by byte */
    size_t count;
};

/* In the order in which Allow lists them; HEAD comes with GET. */
static const char *const METHODS[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

/* ---- rows as they must be -------------------------------------------------------------------- */

/* The index of a method in METHODS; METHOD_COUNT when rows cannot have it. */
static size_t find_method(hub_str method)
{
    size_t i = 0;
    while (i < METHOD_COUNT && !hub_str_is(method, METHODS[i])) {
        i++;
    }
    return i;
}

/* The path of a row without its star. */
static hub_str bare_path(const hub_web_row *row)
{
    hub_str path = hub_str_of(row->path);
    bool has_star = path.len > 0 && path.ptr[path.len - 1] == '*';
    return (hub_str){.ptr = path.ptr, .len = path.len - has_star};
}

static bool is_prefix(hub_str path)
{
    return path.len > 1 && path.ptr[path.len - 1] == '/';
}

static bool is_dots(hub_str segment)
{
    return hub_str_is(segment, ".") || hub_str_is(segment, "..");
}

/* The segment in front of the next slash; *rest is what is behind that. False after the last. */
static bool next_segment(hub_str *rest, hub_str *ret_segment)
{
    if (rest->ptr == NULL) {
        return false;
    }
    const char *slash = rest->len > 0 ? memchr(rest->ptr, '/', rest->len) : NULL;
    *ret_segment = slash != NULL ? hub_str_between(rest->ptr, slash) : *rest;
    *rest = slash != NULL ? hub_str_from(*rest, ret_segment->len + 1)
                          : (hub_str){.ptr = NULL, .len = 0};
    return true;
}

static bool is_row_segment(hub_str segment)
{
    for (size_t i = 0; i < segment.len; i++) {
        char c = segment.ptr[i];
        if (!hub_http_is_alnum(c) && (c == '\0' || strchr("-._~", c) == NULL)) {
            return false;
        }
    }
    return segment.len > 0 && !is_dots(segment);
}

/* "/", or segments, and a slash behind them where there was a star. */
static bool is_row_path(hub_str path, bool has_star)
{
    if (path.len == 0 || path.ptr[0] != '/') {
        return false;
    }
    if (path.len == 1) {
        return !has_star; /* all there is would be one face's */
    }
    if (is_prefix(path) != has_star) {
        return false;
    }
    hub_str rest = {.ptr = path.ptr + 1, .len = path.len - 1 - has_star};
    hub_str segment;
    while (next_segment(&rest, &segment)) {
        if (!is_row_segment(segment)) {
            return false;
        }
    }
    return true;
}

static hub_err check_row(const hub_web_face *face, const hub_web_row *row, hub_error *reterr)
{
    const char *wrong = NULL;
    hub_str path = bare_path(row);
    if (!is_row_path(path, row->path[path.len] != '\0')) {
        wrong = "the path is not one that a row can have";
    } else if (find_method(hub_str_of(row->method)) == METHOD_COUNT) {
        wrong = "the method is not GET, POST, PUT, PATCH or DELETE";
    } else if (row->need < HUB_WEB_ANY_HOST || row->need > HUB_WEB_TOKEN_OR_LOOPBACK) {
        wrong = "it does not say what has to be checked";
    } else if (row->handle == NULL) {
        wrong = "nobody answers it";
    }
    return wrong == NULL ? HUB_OK
                         : hub_fail(reterr, HUB_EINVAL, "face '%s', %s %s: %s", face->name,
                                    row->method, row->path, wrong);
}

/* ---- making the table ------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const hub_web_row *one = ((const hub_http_face_row *)a)->row;
    const hub_web_row *other = ((const hub_http_face_row *)b)->row;
    int order = hub_str_cmp(bare_path(one), bare_path(other));
    size_t i = find_method(hub_str_of(one->method));
    size_t k = find_method(hub_str_of(other->method));
    return order != 0 ? order : (i > k) - (i < k);
}

static hub_err collect_rows(hub_http_face_table *table, const hub_web_served *served, size_t count,
                            hub_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        const hub_web_face *face = served[i].face;
        for (size_t k = 0; k < face->count; k++) {
            hub_err err = check_row(face, &face->rows[k], reterr);
            if (err != HUB_OK) {
                return err;
            }
            table->rows[table->row_count++] = (hub_http_face_row){
                .row = &face->rows[k], .face = face, .instance = served[i].instance};
        }
    }
    if (table->row_count > 0) {
        qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
    }
    for (size_t i = 1; i < table->row_count; i++) {
        const hub_http_face_row *one = &table->rows[i - 1];
        const hub_http_face_row *other = &table->rows[i];
        if (compare_rows(one, other) == 0) {
            return hub_fail(reterr, HUB_ECOLLISION, "faces '%s' and '%s' both answer %s %s",
                            one->face->name, other->face->name, one->row->method, one->row->path);
        }
    }
    return HUB_OK;
}

static void note_row(hub_http_place *place, const hub_http_face_row *at)
{
    size_t len = strlen(place->allow);
    const char *method = at->row->method;
    int added = snprintf(place->allow + len, sizeof place->allow - len, "%s, %s", method,
                         strcmp(method, "GET") == 0 ? "HEAD, " : "");
    hub_assert(added > 0 && (size_t)added < sizeof place->allow - len);
    place->need = at->row->need > place->need ? at->row->need : place->need;
    place->count++;
}

static void make_places(hub_http_face_table *table)
{
    hub_http_place *place = NULL;
    for (size_t i = 0; i < table->row_count; i++) {
        const hub_http_face_row *at = &table->rows[i];
        hub_str path = bare_path(at->row);
        if (place == NULL || !hub_str_eq(place->path, path)) {
            /* What this one is beneath is the one before, or what that is beneath. */
            const hub_http_place *outer = place;
            while (outer != NULL && !(outer->is_prefix && hub_str_starts(path, outer->path))) {
                outer = outer->outer;
            }
            place = &table->places[table->count++];
            *place = (hub_http_place){
                .path = path, .is_prefix = is_prefix(path), .rows = at, .outer = outer};
        }
        note_row(place, at);
    }
    for (size_t i = 0; i < table->count; i++) {
        static const char LAST[] = "OPTIONS";
        char *allow = table->places[i].allow;
        size_t len = strlen(allow);
        hub_assert(len + sizeof LAST <= sizeof table->places[i].allow);
        memcpy(allow + len, LAST, sizeof LAST);
    }
}

hub_err hub_http_face_table_create(const hub_web_served *served, size_t count,
                                   hub_http_face_table **ret_table, hub_error *reterr)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += served[i].face->count;
    }
    hub_http_face_table *table = calloc(1, sizeof *table);
    hub_err err = HUB_ENOMEM;
    if (table != NULL) {
        table->rows = calloc(rows + 1, sizeof *table->rows);
        table->places = calloc(rows + 1, sizeof *table->places);
    }
    if (table == NULL || table->rows == NULL || table->places == NULL) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else {
        err = collect_rows(table, served, count, reterr);
    }
    if (err != HUB_OK) {
        hub_http_face_table_destroy(table);
        return err;
    }
    make_places(table);
    *ret_table = table;
    return HUB_OK;
}

void hub_http_face_table_destroy(hub_http_face_table *table)
{
    if (table != NULL) {
        free(table->rows);
        free(table->places);
        free(table);
    }
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* The byte that a segment has at *at, decoded; *at goes behind it. The parser of requests has seen
 * to it that two digits follow a percent sign. */
static char decode(hub_str segment, size_t *at)
{
    int byte = segment.ptr[*at] == '%' ? hub_percent_byte(segment, *at) : -1;
    char c = byte >= 0 ? (char)byte : segment.ptr[*at];
    *at += byte >= 0 ? 3 : 1;
    return c;
}

/* Whether a segment is a plain name however it is read: decoded once or not at all. */
static bool is_plain_segment(hub_str segment)
{
    size_t dots = 0;
    size_t chars = 0;
    for (size_t at = 0; at < segment.len; chars++) {
        char c = decode(segment, &at);
        if (c == '/' || c == '\\' || c == '\x7f' || (unsigned char)c < ' ') {
            return false;
        }
        dots += c == '.';
    }
    return chars > 0 && !(dots == chars && dots <= 2);
}

static bool is_plain(hub_str rest)
{
    hub_str segment;
    if (rest.len == 0) {
        return true;
    }
    while (next_segment(&rest, &segment)) {
        if (!is_plain_segment(segment)) {
            return false;
        }
    }
    return true;
}

/* In the order of places a path comes behind its prefixes, and all between a prefix and the path
 * begins with that prefix, too. So the place is the last one that is not behind the path, or one
 * that this is beneath. */
const hub_http_place *hub_http_face_table_find(const hub_http_face_table *table, hub_str path)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(table->places[middle].path, path) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const hub_http_place *place = low > 0 ? &table->places[low - 1] : NULL;
    if (place != NULL && hub_str_eq(place->path, path)) {
        return place;
    }
    while (place != NULL && !(place->is_prefix && hub_str_starts(path, place->path))) {
        place = place->outer;
    }
    bool is_there = place != NULL && is_plain(hub_str_from(path, place->path.len));
    return is_there ? place : NULL;
}

const hub_http_face_row *hub_http_place_row(const hub_http_place *place, hub_str method)
{
    hub_str wanted = hub_str_is(method, "HEAD") ? HUB_STR("GET") : method;
    for (size_t i = 0; i < place->count; i++) {
        if (hub_str_is(wanted, place->rows[i].row->method)) {
            return &place->rows[i];
        }
    }
    return NULL;
}
