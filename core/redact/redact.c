/* SPDX-License-Identifier: Apache-2.0 */
#include "redact/redact.h"

#include "base/limits.h"
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LEAST_TOKEN_BYTES = 8 /* of what follows a token's mark */ };

/* A pattern: a line of a secret. */
typedef struct entry {
    struct entry *next; /* newest use first */
    unsigned refs;      /* sets that have it */
    size_t len;
    char text[];
} entry;

/* A state of the automaton: what was read last is a beginning of some pattern. */
typedef struct node {
    uint32_t child;   /* the first; 0: none */
    uint32_t sibling; /* the next child of its parent */
    uint32_t fail;    /* the longest shorter beginning that was read, too */
    uint32_t longest; /* pattern that ends here; 0: none */
    uint32_t depth;
    unsigned char byte;
} node;

struct hub_redact_set {
    entry **entries;
    size_t count;
};

static struct {
    pthread_mutex_t lock; /* guards all of it */
    entry *entries;
    size_t bytes;
    node *nodes; /* the root first; NULL: there are no patterns, or it is to be built */
    uint32_t node_count;
    bool is_current;
    atomic_bool has_any;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the automaton --------------------------------------------------------------------------- */

static uint32_t child_of(uint32_t at, unsigned char byte)
{
    uint32_t child = registry.nodes[at].child;
    while (child != 0 && registry.nodes[child].byte != byte) {
        child = registry.nodes[child].sibling;
    }
    return child;
}

static uint32_t step(uint32_t at, unsigned char byte)
{
    uint32_t child;
    while ((child = child_of(at, byte)) == 0 && at != 0) {
        at = registry.nodes[at].fail;
    }
    return child;
}

static void insert(const entry *pattern)
{
    uint32_t at = 0;
    for (size_t i = 0; i < pattern->len; i++) {
        unsigned char byte = (unsigned char)pattern->text[i];
        uint32_t child = child_of(at, byte);
        if (child == 0) {
            child = registry.node_count++;
            registry.nodes[child] = (node){.sibling = registry.nodes[at].child,
                                           .depth = registry.nodes[at].depth + 1,
                                           .byte = byte};
            registry.nodes[at].child = child;
        }
        at = child;
    }
    registry.nodes[at].longest = registry.nodes[at].depth;
}

/* Breadth first, so that what a state fails to is known. `queue` has room for all. */
static void link_failures(uint32_t *queue)
{
    uint32_t first = 0;
    uint32_t last = 0;
    queue[last++] = 0;
    while (first < last) {
        uint32_t at = queue[first++];
        for (uint32_t c = registry.nodes[at].child; c != 0; c = registry.nodes[c].sibling) {
            node *child = &registry.nodes[c];
            child->fail = at == 0 ? 0 : step(registry.nodes[at].fail, child->byte);
            if (child->longest == 0) {
                child->longest = registry.nodes[child->fail].longest;
            }
            queue[last++] = c;
        }
    }
}

/* False when there is no memory for it. */
static bool build(void)
{
    if (registry.is_current) {
        return true;
    }
    size_t most = registry.bytes + 1;
    node *nodes = calloc(most, sizeof *nodes);
    uint32_t *queue = calloc(most, sizeof *queue);
    if (nodes == NULL || queue == NULL) {
        free(nodes);
        free(queue);
        return false;
    }
    free(registry.nodes);
    registry.nodes = nodes;
    registry.node_count = 1;
    for (const entry *at = registry.entries; at != NULL; at = at->next) {
        insert(at);
    }
    link_failures(queue);
    free(queue);
    registry.is_current = true;
    return true;
}

/* ---- what to mask ---------------------------------------------------------------------------- */

/* Whether the text was cut off at `i`: it ends, or has dots there, as quotes have. */
static bool is_cut(hub_str text, size_t i)
{
    return i == text.len ||
           (text.ptr[i] == '.' && hub_str_starts(hub_str_from(text, i), HUB_STR("...")));
}

/* Mask what was read of a secret before the text was cut in the middle of it. */
static bool find_begun(hub_str text, size_t i, uint32_t at, uint32_t *marks)
{
    uint32_t begun = registry.nodes[at].depth;
    if (begun < HUB_LIMIT_SECRET_LEAST_BYTES || !is_cut(text, i)) {
        return false;
    }
    if (marks != NULL && marks[i - 1] < begun) {
        marks[i - 1] = begun;
    }
    return true;
}

/* For each byte, how many up to it are to be masked; NULL: only whether there are any is asked. */
static bool find_secrets(hub_str text, uint32_t *marks)
{
    uint32_t at = 0;
    bool found = false;
    for (size_t i = 0; i < text.len; i++) {
        found = find_begun(text, i, at, marks) || found;
        at = step(at, (unsigned char)text.ptr[i]);
        if (registry.nodes[at].longest > 0) {
            found = true;
            if (marks == NULL) {
                return true;
            }
            marks[i] = registry.nodes[at].longest;
        }
    }
    return find_begun(text, text.len, at, marks) || found;
}

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~+/=", c) != NULL);
}

/* A mark that tokens follow. It ends with a character that is rarer than letters. */
typedef struct mark {
    hub_str text;
    bool has_case; /* it is written like this, and in no other way */
} mark;

/* Where the mark stands first, from `from` on, with room for a token behind it; SIZE_MAX: nowhere. */
static size_t find_mark(hub_str text, size_t from, const mark *of)
{
    size_t before = of->text.len - 1;
    size_t end = text.len > LEAST_TOKEN_BYTES ? text.len - LEAST_TOKEN_BYTES : 0;
    for (size_t at = from + before; at < end; at++) {
        const char *last = memchr(text.ptr + at, of->text.ptr[before], end - at);
        if (last == NULL) {
            break;
        }
        at = (size_t)(last - text.ptr);
        hub_str here = {.ptr = last - before, .len = of->text.len};
        if (of->has_case ? hub_str_eq(here, of->text) : hub_str_eq_nocase(here, of->text)) {
            return at - before;
        }
    }
    return SIZE_MAX;
}

/* What follows a mark is a token, if it is long enough. */
static bool find_marked(hub_str text, const mark *of, uint32_t *marks)
{
    bool found = false;
    size_t at = 0;
    while ((at = find_mark(text, at, of)) != SIZE_MAX) {
        size_t begin = at + of->text.len;
        size_t end = begin;
        while (end < text.len && is_token_char(text.ptr[end])) {
            end++;
        }
        if (end - begin >= LEAST_TOKEN_BYTES) {
            uint32_t len = (uint32_t)(end - begin);
            found = true;
            if (marks == NULL) {
                return true;
            }
            marks[end - 1] = marks[end - 1] > len ? marks[end - 1] : len;
        }
        at = end;
    }
    return found;
}

/* Bearer tokens of anybody (RFC 6750), and the hub's own. */
static bool find_tokens(hub_str text, uint32_t *marks)
{
    static const mark BEARER = {.text = {.ptr = "Bearer ", .len = 7}};
    static const mark OWN = {.text = {.ptr = "pbt_", .len = 4}, .has_case = true};
    bool found = find_marked(text, &BEARER, marks);
    return find_marked(text, &OWN, marks) || found;
}

static bool find_all(hub_str text, uint32_t *marks)
{
    bool has_tokens = find_tokens(text, marks);
    if (has_tokens && marks == NULL) {
        return true;
    }
    return (atomic_load(&registry.has_any) && find_secrets(text, marks)) || has_tokens;
}

/* What is marked overlaps: go from the end, and keep what reaches farthest to the front. */
static void write_masked(hub_str text, uint32_t *marks, hub_buf *out)
{
    uint32_t reach = 0;
    for (size_t i = text.len; i > 0; i--) {
        reach = marks[i - 1] > reach ? marks[i - 1] : reach;
        marks[i - 1] = reach > 0;
        reach -= reach > 0;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (marks[i] == 0) {
            hub_buf_add_char(out, text.ptr[i]);
        } else if (i == 0 || marks[i - 1] == 0) {
            hub_buf_add(out, HUB_STR(HUB_REDACTED));
        }
    }
}

static bool redact_locked(hub_str text, hub_buf *out)
{
    bool is_built = !atomic_load(&registry.has_any) || build();
    if (is_built && !find_all(text, NULL)) {
        return false;
    }
    uint32_t *marks = is_built ? calloc(text.len, sizeof *marks) : NULL;
    if (marks == NULL) {
        hub_buf_add(out, HUB_STR(HUB_REDACTED));
        return true;
    }
    (void)find_all(text, marks);
    write_masked(text, marks, out);
    free(marks);
    return true;
}

bool hub_redact(hub_str text, hub_buf *out)
{
    if (text.len == 0 || (!atomic_load(&registry.has_any) && !find_tokens(text, NULL))) {
        return false;
    }
    (void)pthread_mutex_lock(&registry.lock); /* a static mutex: cannot fail */
    bool is_masked = redact_locked(text, out);
    (void)pthread_mutex_unlock(&registry.lock);
    return is_masked;
}

/* ---- the registry ---------------------------------------------------------------------------- */

hub_redact_set *hub_redact_set_create(void)
{
    return calloc(1, sizeof(hub_redact_set));
}

void hub_redact_set_destroy(hub_redact_set *set)
{
    if (set == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&registry.lock);
    for (size_t i = 0; i < set->count; i++) {
        set->entries[i]->refs--;
    }
    (void)pthread_mutex_unlock(&registry.lock);
    free(set->entries);
    free(set);
}

static void erase(entry *old)
{
    explicit_bzero(old->text, old->len);
    free(old);
}

/* Forget what nobody has any more, the oldest first, until there is room. */
static bool make_room(size_t len)
{
    while (registry.bytes + len > HUB_LIMIT_SECRET_BYTES) {
        entry **oldest = NULL;
        for (entry **link = &registry.entries; *link != NULL; link = &(*link)->next) {
            oldest = (*link)->refs == 0 ? link : oldest;
        }
        if (oldest == NULL) {
            return false;
        }
        entry *old = *oldest;
        *oldest = old->next;
        registry.bytes -= old->len;
        registry.is_current = false;
        erase(old);
    }
    return true;
}

/* Take out the entry with that text, if there is one. */
static entry *take_entry(hub_str text)
{
    for (entry **link = &registry.entries; *link != NULL; link = &(*link)->next) {
        entry *found = *link;
        if (hub_str_eq((hub_str){.ptr = found->text, .len = found->len}, text)) {
            *link = found->next;
            return found;
        }
    }
    return NULL;
}

static hub_err make_entry(hub_str text, entry **ret_entry)
{
    if (!make_room(text.len)) {
        return HUB_ELIMIT;
    }
    entry *made = malloc(sizeof *made + text.len);
    if (made == NULL) {
        return HUB_ENOMEM;
    }
    *made = (entry){.len = text.len};
    memcpy(made->text, text.ptr, text.len);
    registry.bytes += text.len;
    registry.is_current = false;
    *ret_entry = made;
    return HUB_OK;
}

static hub_err add_locked(hub_redact_set *set, hub_str text)
{
    entry **grown = realloc(set->entries, (set->count + 1) * sizeof(entry *));
    if (grown == NULL) {
        return HUB_ENOMEM;
    }
    set->entries = grown;
    entry *found = take_entry(text);
    hub_err err = found != NULL ? HUB_OK : make_entry(text, &found);
    if (err != HUB_OK) {
        return err;
    }
    found->refs++;
    found->next = registry.entries;
    registry.entries = found;
    set->entries[set->count++] = found;
    atomic_store(&registry.has_any, true);
    return HUB_OK;
}

static hub_err add_pattern(hub_redact_set *set, hub_str text)
{
    if (text.len < HUB_LIMIT_SECRET_LEAST_BYTES) {
        return HUB_OK;
    }
    (void)pthread_mutex_lock(&registry.lock);
    hub_err err = add_locked(set, text);
    (void)pthread_mutex_unlock(&registry.lock);
    return err;
}

/* The same as JSON writes it inside of a string, if that is something else. */
static hub_err add_escaped(hub_redact_set *set, hub_str text)
{
    hub_buf escaped;
    hub_buf_init(&escaped, text.len * 6 + 1);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if ((unsigned char)c < 0x20 && c != '\t') {
            hub_buf_printf(&escaped, "\\u%04x", (unsigned char)c);
        } else {
            hub_buf_add(&escaped, c == '"' || c == '\\' ? HUB_STR("\\") : HUB_STR_EMPTY);
            hub_buf_add_char(&escaped, c == '\t' ? '\\' : c);
            hub_buf_add(&escaped, c == '\t' ? HUB_STR("t") : HUB_STR_EMPTY);
        }
    }
    hub_err err = hub_buf_ok(&escaped) ? HUB_OK : escaped.failed;
    if (err == HUB_OK && !hub_str_eq(hub_buf_str(&escaped), text)) {
        err = add_pattern(set, hub_buf_str(&escaped));
    }
    hub_buf_fini(&escaped);
    return err;
}

hub_err hub_redact_set_add(hub_redact_set *set, hub_str secret)
{
    hub_err err = HUB_OK;
    while (err == HUB_OK && secret.len > 0) {
        const char *newline = memchr(secret.ptr, '\n', secret.len);
        size_t len = newline != NULL ? (size_t)(newline - secret.ptr) : secret.len;
        hub_str line = hub_str_trim((hub_str){.ptr = secret.ptr, .len = len});
        err = add_pattern(set, line);
        if (err == HUB_OK && line.len > 0) {
            err = add_escaped(set, line);
        }
        secret = hub_str_from(secret, newline != NULL ? len + 1 : len);
    }
    return err;
}

size_t hub_redact_size(void)
{
    (void)pthread_mutex_lock(&registry.lock);
    size_t bytes = registry.bytes;
    (void)pthread_mutex_unlock(&registry.lock);
    return bytes;
}
