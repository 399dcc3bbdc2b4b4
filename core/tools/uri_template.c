/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/uri_template.h"

#include <stdlib.h>

/* Which characters end what stands for an expression: a row of hub_uri.classes. */
typedef enum stops {
    STOPS_NONE,
    STOPS_FRAGMENT, /* '#' */
    STOPS_QUERY,    /* '?' and '#' */
    STOPS_SEGMENT,  /* '/', '?' and '#' */
} stops;

_Static_assert(STOPS_SEGMENT + 1 == HUB_URI_CLASSES, "a row for each");

static const char *const STOPS[HUB_URI_CLASSES] = {"", "#", "?#", "/?#"};

/* What an expression is compiled to: one of these characters, which no template has. */
typedef enum symbol {
    SYMBOL_SIMPLE = 1,
    SYMBOL_RESERVED,
    SYMBOL_FRAGMENT,
    SYMBOL_QUERY,
    SYMBOL_QUERY_REST,
    SYMBOL_PATH,
    SYMBOL_LABEL,
    SYMBOL_PARAMETER,
    SYMBOL_END, /* not one any more */
} symbol;

/* What stands for an expression: `sign` first, if it has one, then characters but those that end
 * it. With a sign it may be nothing at all. */
static const struct {
    char sign; /* 0: none */
    stops ends;
} EXPANSIONS[SYMBOL_END] = {
    [SYMBOL_SIMPLE] = {0, STOPS_SEGMENT},        [SYMBOL_RESERVED] = {0, STOPS_NONE},
    [SYMBOL_FRAGMENT] = {'#', STOPS_NONE},       [SYMBOL_QUERY] = {'?', STOPS_FRAGMENT},
    [SYMBOL_QUERY_REST] = {'&', STOPS_FRAGMENT}, [SYMBOL_PATH] = {'/', STOPS_QUERY},
    [SYMBOL_LABEL] = {'.', STOPS_SEGMENT},       [SYMBOL_PARAMETER] = {';', STOPS_SEGMENT},
};

/* A template without the names of its variables. */
typedef struct shape {
    hub_str code; /* characters and symbols */
    size_t place;
    size_t literals; /* characters in it that are no symbols */
} shape;

/* What the shapes [low, high) have in common from `begin` to `end` of their codes, behind which
 * they differ: each child has another character there. */
typedef struct node {
    uint32_t low;
    uint32_t high;
    uint16_t begin;
    uint16_t end;
    uint32_t first_child;
    uint32_t child_count;
} node;

/* A node on the way down, and the places in the URI behind what it has in common. */
typedef struct frame {
    uint32_t at;
    uint32_t next_child;
    uint64_t places[HUB_URI_WORDS];
} frame;

struct hub_uri_templates {
    shape *shapes; /* sorted by code, each code once */
    size_t count;
    char *codes;
    node *nodes; /* the first is the root; those of one parent stand together */
    size_t node_count;
    size_t height; /* nodes on the longest way down */
    frame *frames; /* one for each of these */
};

bool hub_uri_template_is_valid(hub_str pattern)
{
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < pattern.len; i++) {
        if ((unsigned char)pattern.ptr[i] < ' ') {
            return false;
        }
        if (pattern.ptr[i] == '{') {
            if (open != SIZE_MAX) {
                return false;
            }
            open = i;
        } else if (pattern.ptr[i] == '}') {
            if (open == SIZE_MAX || i - open < 2) {
                return false;
            }
            open = SIZE_MAX;
        }
    }
    return open == SIZE_MAX;
}

size_t hub_uri_steps(size_t len)
{
    return (len + HUB_LIMIT_TEMPLATE_FLOOR_BYTES) * HUB_LIMIT_TEMPLATE_STEPS;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static symbol symbol_of(char operator)
{
    switch (operator) {
    case '+':
        return SYMBOL_RESERVED;
    case '#':
        return SYMBOL_FRAGMENT;
    case '?':
        return SYMBOL_QUERY;
    case '&':
        return SYMBOL_QUERY_REST;
    case '/':
        return SYMBOL_PATH;
    case '.':
        return SYMBOL_LABEL;
    case ';':
        return SYMBOL_PARAMETER;
    default:
        return SYMBOL_SIMPLE;
    }
}

/* Write the code of a template to `to`, which has room for its text. */
static shape make_shape(hub_str text, size_t place, char *to)
{
    shape made = {.code = {.ptr = to}, .place = place};
    while (text.len > 0) {
        const char *brace = memchr(text.ptr, '{', text.len);
        size_t len = brace == NULL ? text.len : (size_t)(brace - text.ptr);
        memcpy(to, text.ptr, len);
        to += len;
        made.literals += len;
        text = hub_str_from(text, len);
        if (text.len > 0) {
            *to++ = (char)symbol_of(text.ptr[1]);
            const char *close = memchr(text.ptr, '}', text.len);
            text = hub_str_from(text, (size_t)(close - text.ptr) + 1);
        }
    }
    made.code.len = (size_t)(to - made.code.ptr);
    return made;
}

static int by_code(const void *a, const void *b)
{
    const shape *left = a;
    const shape *right = b;
    int order = hub_str_cmp(left->code, right->code);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

static hub_err make_shapes(hub_uri_templates *set, const hub_str *texts, size_t count)
{
    size_t room = 1;
    for (size_t i = 0; i < count; i++) {
        if (!hub_uri_template_is_valid(texts[i])) {
            return HUB_EINVAL;
        }
        room += texts[i].len;
    }
    set->shapes = calloc(count + 1, sizeof *set->shapes);
    set->codes = malloc(room);
    if (set->shapes == NULL || set->codes == NULL) {
        return HUB_ENOMEM;
    }
    char *to = set->codes;
    for (size_t i = 0; i < count; i++) {
        shape made = make_shape(texts[i], i, to);
        to += made.code.len;
        if (made.code.len <= HUB_LIMIT_URI_BYTES) { /* else no URI is as long */
            set->shapes[set->count++] = made;
        }
    }
    qsort(set->shapes, set->count, sizeof *set->shapes, by_code);
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || !hub_str_eq(set->shapes[kept - 1].code, set->shapes[i].code)) {
            set->shapes[kept++] = set->shapes[i];
        }
    }
    set->count = kept;
    return HUB_OK;
}

/* Where the codes of two shapes begin to differ, from `at` on. */
static size_t common_end(const shape *a, const shape *b, size_t at)
{
    while (at < a->code.len && at < b->code.len && a->code.ptr[at] == b->code.ptr[at]) {
        at++;
    }
    return at;
}

static bool is_at_end(const hub_uri_templates *set, const node *of)
{
    return set->shapes[of->low].code.len == of->end; /* the shortest is the first */
}

/* Append the children of a node. */
static void add_children(hub_uri_templates *set, size_t parent)
{
    node of = set->nodes[parent];
    uint32_t low = of.low + is_at_end(set, &of);
    of.first_child = (uint32_t)set->node_count;
    while (low < of.high) {
        uint32_t high = low + 1;
        char begin = set->shapes[low].code.ptr[of.end];
        while (high < of.high && set->shapes[high].code.ptr[of.end] == begin) {
            high++;
        }
        size_t end = common_end(&set->shapes[low], &set->shapes[high - 1], of.end);
        set->nodes[set->node_count++] =
            (node){.low = low, .high = high, .begin = of.end, .end = (uint16_t)end};
        of.child_count++;
        low = high;
    }
    set->nodes[parent] = of;
}

/* Each node is where a shape ends or where two part, so there are less than twice as many. */
static hub_err make_nodes(hub_uri_templates *set)
{
    set->nodes = calloc(2 * set->count + 1, sizeof *set->nodes);
    uint32_t level = 1; /* where the next level begins */
    if (set->nodes == NULL) {
        return HUB_ENOMEM;
    }
    if (set->count == 0) {
        return HUB_OK;
    }
    const shape *last = &set->shapes[set->count - 1];
    set->nodes[0] =
        (node){.high = (uint32_t)set->count, .end = (uint16_t)common_end(&set->shapes[0], last, 0)};
    set->node_count = 1;
    set->height = 1;
    for (size_t i = 0; i < set->node_count; i++) {
        if (i == level) {
            set->height++;
            level = (uint32_t)set->node_count;
        }
        add_children(set, i);
    }
    return HUB_OK;
}

hub_err hub_uri_templates_create(const hub_str *texts, size_t count, hub_uri_templates **ret_set)
{
    hub_uri_templates *set = calloc(1, sizeof *set);
    if (set == NULL) {
        return HUB_ENOMEM;
    }
    hub_err err = make_shapes(set, texts, count);
    err = err != HUB_OK ? err : make_nodes(set);
    set->frames = err == HUB_OK ? calloc(set->height + 1, sizeof *set->frames) : NULL;
    err = err == HUB_OK && set->frames == NULL ? HUB_ENOMEM : err;
    if (err != HUB_OK) {
        hub_uri_templates_destroy(set);
        return err;
    }
    *ret_set = set;
    return HUB_OK;
}

void hub_uri_templates_destroy(hub_uri_templates *set)
{
    if (set != NULL) {
        free(set->shapes);
        free(set->codes);
        free(set->nodes);
        free(set->frames);
        free(set);
    }
}

/* ---- sets of places -------------------------------------------------------------------------- */

static void add_place(uint64_t *set, size_t place)
{
    set[place / 64] |= UINT64_C(1) << place % 64;
}

bool hub_uri_init(hub_uri *uri, hub_str text)
{
    if (text.len > HUB_LIMIT_URI_BYTES) {
        return false;
    }
    uri->text = text;
    uri->words = text.len / 64 + 1;
    memset(uri->slot, 0, sizeof uri->slot);
    memset(uri->classes, 0, sizeof uri->classes);
    uint16_t used = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint16_t *slot = &uri->slot[(unsigned char)text.ptr[i]];
        if (*slot == 0) {
            *slot = ++used;
            memset(uri->at[used], 0, uri->words * sizeof uri->at[used][0]);
        }
        add_place(uri->at[*slot], i);
        for (size_t class = 0; class < HUB_URI_CLASSES; class ++) {
            if (text.ptr[i] == '\0' || strchr(STOPS[class], text.ptr[i]) == NULL) {
                add_place(uri->classes[class], i);
            }
        }
    }
    return true;
}

/* Go on from every place in `now` that is in `where`, by one. */
static bool advance(const hub_uri *uri, const uint64_t *now, const uint64_t *where, uint64_t *next)
{
    uint64_t carry = 0;
    uint64_t any = 0;
    for (size_t i = 0; i < uri->words; i++) {
        uint64_t both = now[i] & where[i];
        next[i] = both << 1 | carry;
        carry = both >> 63;
        any |= next[i];
    }
    return any != 0;
}

/* Add to `now` each place that can be reached from one in it over places in `where`: adding to a
 * run of ones carries to its end. */
static void spread(const hub_uri *uri, uint64_t *now, const uint64_t *where)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < uri->words; i++) {
        uint64_t sum;
        uint64_t over = __builtin_add_overflow(now[i] & where[i], where[i], &sum);
        over |= (uint64_t)__builtin_add_overflow(sum, carry, &sum);
        carry = over;
        now[i] |= sum ^ where[i];
    }
}

/* Go on over what a character of a code stands for. Whether there is a place left. */
static bool step(const hub_uri *uri, char code, bool is_lax, uint64_t *now)
{
    uint64_t next[HUB_URI_WORDS];
    unsigned char c = (unsigned char)code;
    if (c == 0 || c >= SYMBOL_END) {
        return uri->slot[c] != 0 && advance(uri, now, uri->at[uri->slot[c]], now);
    }
    unsigned char sign = (unsigned char)EXPANSIONS[c].sign;
    stops ends = is_lax && c == SYMBOL_SIMPLE ? STOPS_NONE : EXPANSIONS[c].ends;
    if (sign == 0) {
        bool is_any = advance(uri, now, uri->classes[ends], now);
        spread(uri, now, uri->classes[ends]);
        return is_any;
    }
    if (uri->slot[sign] != 0 && advance(uri, now, uri->at[uri->slot[sign]], next)) {
        spread(uri, next, uri->classes[ends]);
        for (size_t i = 0; i < uri->words; i++) {
            now[i] |= next[i];
        }
    }
    return true; /* it may be nothing at all */
}

/* ---- finding --------------------------------------------------------------------------------- */

typedef struct search {
    const hub_uri_templates *set;
    const hub_uri *uri;
    bool is_lax;
    size_t most; /* steps */
    hub_uri_match match;
} search;

/* Go over the text of a node, and note the shape that ends with it. Whether anything is left. */
static bool enter(search *with, frame *now)
{
    const node *at = &with->set->nodes[now->at];
    const shape *first = &with->set->shapes[at->low];
    hub_uri_match *match = &with->match;
    match->steps++;
    for (size_t i = at->begin; i < at->end; i++) {
        match->steps += with->uri->words;
        if (match->steps > with->most ||
            !step(with->uri, first->code.ptr[i], with->is_lax, now->places)) {
            return false;
        }
    }
    size_t end = with->uri->text.len;
    bool is_match = is_at_end(with->set, at) && (now->places[end / 64] >> end % 64 & 1) != 0;
    if (is_match && (!match->is_found || first->literals > match->literals ||
                     (first->literals == match->literals && first->place < match->place))) {
        match->is_found = true;
        match->place = first->place;
        match->literals = first->literals;
    }
    return true;
}

/* Whether a child's first character is none of the URI's: most of them end here. */
static bool is_hopeless(search *with, uint32_t child)
{
    const node *at = &with->set->nodes[child];
    unsigned char c = (unsigned char)with->set->shapes[at->low].code.ptr[at->begin];
    with->match.steps++;
    return (c == 0 || c >= SYMBOL_END) && with->uri->slot[c] == 0;
}

static void walk(search *with)
{
    frame *frames = with->set->frames;
    size_t depth = 0;
    memset(frames[0].places, 0, with->uri->words * sizeof frames[0].places[0]);
    frames[0].at = 0;
    frames[0].next_child = 0;
    frames[0].places[0] = 1;
    if (!enter(with, &frames[0])) {
        return;
    }
    for (;;) {
        frame *now = &frames[depth];
        const node *at = &with->set->nodes[now->at];
        if (with->match.steps > with->most) {
            return;
        }
        if (now->next_child == at->child_count) {
            if (depth-- == 0) {
                return;
            }
            continue;
        }
        uint32_t child = at->first_child + now->next_child++;
        if (is_hopeless(with, child)) {
            continue;
        }
        frame *next = &frames[depth + 1];
        next->at = child;
        next->next_child = 0;
        memcpy(next->places, now->places, with->uri->words * sizeof next->places[0]);
        depth += enter(with, next);
    }
}

hub_uri_match hub_uri_templates_find(const hub_uri_templates *set, const hub_uri *uri, bool is_lax)
{
    search with = {.set = set, .uri = uri, .is_lax = is_lax, .most = hub_uri_steps(uri->text.len)};
    if (set->count == 0) {
        return with.match;
    }
    walk(&with);
    with.match.is_cut = with.match.steps > with.most;
    with.match.is_found = with.match.is_found && !with.match.is_cut;
    return with.match;
}
