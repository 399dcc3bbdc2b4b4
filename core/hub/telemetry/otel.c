/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/otel.h"

#include "base/encoding.h"
#include "base/limits.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

const char *const HUB_OTEL_SIGNAL_WORDS[HUB_OTEL_SIGNALS] = {"traces", "metrics", "logs"};

/* The same, as variables have them. */
static const char *const UPPER[HUB_OTEL_SIGNALS] = {"TRACES", "METRICS", "LOGS"};

enum { NAME_BYTES = 64 };

/* ---- one variable ---------------------------------------------------------------------------- */

static void ignore(const hub_otel_source *source, const char *name, const char *why)
{
    if (source->on_ignored != NULL) {
        source->on_ignored(source->ctx, name, why);
    }
}

/* Its value without white space; one that is empty is as good as none. */
static hub_str get(const hub_otel_source *source, const char *name)
{
    hub_str value = hub_str_trim(hub_str_of(source->get(source->ctx, name)));
    if (value.len > HUB_LIMIT_OTEL_VALUE_BYTES) {
        ignore(source, name, "it is too long");
        return HUB_STR_EMPTY;
    }
    return value.len > 0 ? value : HUB_STR_EMPTY;
}

static bool is_true(const hub_otel_source *source, const char *name)
{
    hub_str value = get(source, name);
    bool is_yes = hub_str_eq_nocase(value, HUB_STR("true"));
    if (value.len > 0 && !is_yes && !hub_str_eq_nocase(value, HUB_STR("false"))) {
        ignore(source, name, "it is neither true nor false");
    }
    return is_yes;
}

/* A whole number between the bounds, else `otherwise`. */
static uint32_t get_number(const hub_otel_source *source, const char *name, uint32_t least,
                           uint32_t most, uint32_t otherwise)
{
    hub_str value = get(source, name);
    uint64_t number = 0;
    char why[96];
    if (value.len == 0) {
        return otherwise;
    }
    bool is_number = value.ptr[0] >= '0' && value.ptr[0] <= '9' &&
                     hub_json_check(value, NULL, NULL) == HUB_OK && hub_json_to_u64(value, &number);
    if (is_number && number >= least && number <= most) {
        return (uint32_t)number;
    }
    (void)snprintf(why, sizeof why, "it is not a whole number from %" PRIu32 " to %" PRIu32, least,
                   most); /* fits */
    ignore(source, name, why);
    return otherwise;
}

/* ---- lists: key=value,key=value -------------------------------------------------------------- */

/* Append the bytes of a value, of which some are written as %XX. False: one is broken, or stands for a
 * control character, which no header may have. */
static bool add_decoded(hub_buf *out, hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        int byte = (unsigned char)text.ptr[i];
        if (byte == '%') {
            byte = hub_percent_byte(text, i);
            i += 2;
        }
        if (byte < ' ' || byte == 0x7f) {
            return false;
        }
        hub_buf_add_char(out, (char)byte);
    }
    return true;
}

typedef struct pair {
    hub_str key;
    hub_buf value; /* decoded */
} pair;

/* Printable ASCII without blanks and colons: what may be a header's name, too. */
static bool is_name(hub_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        if (c <= ' ' || c == ':' || c >= 0x7f) {
            return false;
        }
    }
    return key.len > 0;
}

typedef enum next_is {
    NEXT_NONE,
    NEXT_PAIR,
    NEXT_BROKEN,
} next_is;

/* Take the next pair off a list, whose value's memory is used again; empty ones are passed over. */
static next_is take_pair(hub_str *left, pair *ret_pair)
{
    while (left->len > 0) {
        const char *comma = memchr(left->ptr, ',', left->len);
        hub_str whole = comma != NULL ? hub_str_between(left->ptr, comma) : *left;
        *left = hub_str_from(*left, comma != NULL ? whole.len + 1 : whole.len);
        whole = hub_str_trim(whole);
        if (whole.len == 0) {
            continue;
        }
        const char *equals = memchr(whole.ptr, '=', whole.len);
        if (equals == NULL) {
            return NEXT_BROKEN;
        }
        ret_pair->key = hub_str_trim(hub_str_between(whole.ptr, equals));
        hub_buf_clear(&ret_pair->value);
        hub_str value = hub_str_trim(hub_str_between(equals + 1, whole.ptr + whole.len));
        bool is_good = is_name(ret_pair->key) && add_decoded(&ret_pair->value, value) &&
                       hub_buf_ok(&ret_pair->value);
        return is_good ? NEXT_PAIR : NEXT_BROKEN;
    }
    return NEXT_NONE;
}

typedef void add_pair(hub_buf *out, hub_str key, hub_str value);

/* Append all pairs of a variable, or, if one is broken, none. */
static void add_list(const hub_otel_source *source, const char *name, add_pair *add, hub_buf *out)
{
    hub_str left = get(source, name);
    size_t before = out->len;
    pair one = {.key = HUB_STR_EMPTY};
    next_is next;
    hub_buf_init(&one.value, HUB_LIMIT_OTEL_VALUE_BYTES);
    while ((next = take_pair(&left, &one)) == NEXT_PAIR) {
        add(out, one.key, hub_buf_str(&one.value));
    }
    if (next == NEXT_BROKEN) {
        out->len = before;
        ignore(source, name, "it is not a list of key=value, separated by commas");
    }
    hub_buf_fini(&one.value);
}

/* ---- targets --------------------------------------------------------------------------------- */

/* The name of a variable that a signal may have of its own. */
static const char *name_of(char name[NAME_BYTES], hub_otel_signal signal, const char *what)
{
    (void)snprintf(name, NAME_BYTES, "OTEL_EXPORTER_OTLP_%s%s%s",
                   signal < HUB_OTEL_SIGNALS ? UPPER[signal] : "",
                   signal < HUB_OTEL_SIGNALS ? "_" : "", what); /* has room */
    return name;
}

/* The name under which `what` is set: the signal's own, or that for all; it may be set there or not. */
static const char *set_name(const hub_otel_source *source, char name[NAME_BYTES],
                            hub_otel_signal signal, const char *what)
{
    return get(source, name_of(name, signal, what)).len > 0 ? name
                                                            : name_of(name, HUB_OTEL_SIGNALS, what);
}

/* What is said of how a signal leaves: "otlp", "none", or nothing. */
static bool is_wanted(const hub_otel_source *source, hub_otel_signal signal, bool has_endpoint)
{
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof name, "OTEL_%s_EXPORTER", UPPER[signal]); /* has room */
    hub_str value = get(source, name);
    if (value.len == 0) {
        return has_endpoint;
    }
    if (hub_str_is(value, "otlp")) {
        return true;
    }
    if (!hub_str_is(value, "none")) {
        ignore(source, name, "otlp and none are all there is");
        return has_endpoint;
    }
    return false;
}

static bool is_url(hub_str text)
{
    static const char *const SCHEMES[] = {"http://", "https://"};
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++) {
        hub_str scheme = hub_str_of(SCHEMES[i]);
        if (hub_str_starts(text, scheme) && text.len > scheme.len) {
            return true;
        }
    }
    return false;
}

/* A signal's own endpoint is the whole URL; to that for all, its path is added. */
static hub_err read_url(const hub_otel_source *source, hub_otel_signal signal, char **ret_url)
{
    char name[NAME_BYTES];
    hub_str own = get(source, name_of(name, signal, "ENDPOINT"));
    if (own.len > 0 && !is_url(own)) {
        ignore(source, name, "it is not an http or https URL");
        own = HUB_STR_EMPTY;
    }
    hub_str all = get(source, name_of(name, HUB_OTEL_SIGNALS, "ENDPOINT"));
    if (all.len > 0 && !is_url(all)) {
        ignore(source, name, "it is not an http or https URL");
        all = HUB_STR_EMPTY;
    }
    if (!is_wanted(source, signal, own.len + all.len > 0)) {
        return HUB_OK;
    }
    hub_buf url;
    hub_buf_init(&url, 2 * HUB_LIMIT_OTEL_VALUE_BYTES);
    if (own.len > 0) {
        hub_buf_add(&url, own);
    } else {
        hub_str base = all.len > 0 ? all : HUB_STR("http://localhost:4318");
        base.len -= base.ptr[base.len - 1] == '/';
        hub_buf_add(&url, base);
        hub_buf_printf(&url, "/v1/%s", HUB_OTEL_SIGNAL_WORDS[signal]);
    }
    *ret_url = hub_buf_take(&url);
    hub_buf_fini(&url);
    return *ret_url != NULL ? HUB_OK : HUB_ENOMEM;
}

static void add_header(hub_buf *out, hub_str key, hub_str value)
{
    hub_buf_add(out, key);
    hub_buf_add(out, HUB_STR(": "));
    hub_buf_add(out, value);
    hub_buf_add_char(out, '\n');
}

/* JSON is what is sent, uncompressed. Who asks for something else is told. */
static void check_form(const hub_otel_source *source, hub_otel_signal signal)
{
    char name[NAME_BYTES];
    hub_str value = get(source, set_name(source, name, signal, "PROTOCOL"));
    if (value.len > 0 && !hub_str_is(value, "http/json")) {
        ignore(source, name,
               "http/json is what the hub sends; collectors take it where they take "
               "http/protobuf");
    }
    value = get(source, set_name(source, name, signal, "COMPRESSION"));
    if (value.len > 0 && !hub_str_is(value, "none")) {
        ignore(source, name, "the hub does not compress what it sends");
    }
}

static hub_err read_target(const hub_otel_source *source, hub_otel_signal signal,
                           hub_otel_target *target)
{
    enum { SHORTEST_MS = 1, LONGEST_MS = 600000, USUAL_MS = 10000 };
    char name[NAME_BYTES];
    hub_err err = read_url(source, signal, &target->url);
    if (err != HUB_OK || target->url == NULL) {
        return err;
    }
    hub_buf headers;
    check_form(source, signal);
    hub_buf_init(&headers, 2 * HUB_LIMIT_OTEL_VALUE_BYTES);
    hub_buf_add(&headers, HUB_STR("Expect:\n")); /* no question whether it may be large */
    add_list(source, set_name(source, name, signal, "HEADERS"), add_header, &headers);
    target->headers = hub_buf_take(&headers);
    hub_buf_fini(&headers);
    hub_str ca = get(source, set_name(source, name, signal, "CERTIFICATE"));
    target->ca = ca.len > 0 ? hub_str_dup(ca) : NULL;
    target->timeout_ms = get_number(source, set_name(source, name, signal, "TIMEOUT"), SHORTEST_MS,
                                    LONGEST_MS, USUAL_MS);
    bool is_whole = target->headers != NULL && (ca.len == 0 || target->ca != NULL);
    return is_whole ? HUB_OK : HUB_ENOMEM;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void add_attribute(hub_buf *out, hub_str key, hub_str value)
{
    hub_json_add_comma(out);
    hub_buf_add(out, HUB_STR("{\"key\":"));
    hub_json_add_string(out, key);
    hub_buf_add(out, HUB_STR(",\"value\":{\"stringValue\":"));
    hub_json_add_string(out, value);
    hub_buf_add(out, HUB_STR("}}"));
}

/* Whether there is one of that key; keys that are looked for need no escapes. */
static bool has_attribute(const hub_buf *attributes, const char *key)
{
    char begin[NAME_BYTES];
    (void)snprintf(begin, sizeof begin, "{\"key\":\"%s\",", key); /* has room */
    return hub_str_find(hub_buf_str(attributes), hub_str_of(begin)) != SIZE_MAX;
}

static void add_unless_there(hub_buf *out, const char *key, hub_str value)
{
    if (!has_attribute(out, key)) {
        add_attribute(out, hub_str_of(key), value);
    }
}

/* Which of many hubs of the same name it is: a UUID of version 4, of this process. */
static hub_str make_instance(char text[37])
{
    unsigned char id[16] = {0};
    (void)!getrandom(id, sizeof id, 0); /* without, all are zeros, and one of many is not told */
    id[6] = (unsigned char)((id[6] & 0x0f) | 0x40);
    id[8] = (unsigned char)((id[8] & 0x3f) | 0x80);
    int len = 0;
    for (size_t i = 0; i < sizeof id; i++) {
        bool is_part = i == 4 || i == 6 || i == 8 || i == 10;
        len += snprintf(text + len, 37 - (size_t)len, "%s%02x", is_part ? "-" : "", id[i]);
    }
    return hub_str_of(text);
}

/* The name has a variable of its own, which wins over the list. */
static void add_listed(hub_buf *out, hub_str key, hub_str value)
{
    bool is_named = hub_str_is(key, "service.name") && has_attribute(out, "service.name");
    if (!is_named) {
        add_attribute(out, key, value);
    }
}

static hub_err read_resource(const hub_otel_source *source, char **ret_resource)
{
    char instance[37];
    hub_str name = get(source, "OTEL_SERVICE_NAME");
    hub_buf out;
    hub_buf_init(&out, 8 * HUB_LIMIT_OTEL_VALUE_BYTES);
    hub_buf_add_char(&out, '[');
    if (name.len > 0) {
        add_attribute(&out, HUB_STR("service.name"), name);
    }
    add_list(source, "OTEL_RESOURCE_ATTRIBUTES", add_listed, &out);
    add_unless_there(&out, "service.name", HUB_STR("patchbay"));
    add_unless_there(&out, "service.version", HUB_STR(PATCHBAY_VERSION));
    add_unless_there(&out, "service.instance.id", make_instance(instance));
    add_unless_there(&out, "telemetry.sdk.name", HUB_STR("patchbay"));
    add_unless_there(&out, "telemetry.sdk.language", HUB_STR("c"));
    add_unless_there(&out, "telemetry.sdk.version", HUB_STR(PATCHBAY_VERSION));
    hub_buf_add_char(&out, ']');
    *ret_resource = hub_buf_take(&out);
    hub_buf_fini(&out);
    return *ret_resource != NULL ? HUB_OK : HUB_ENOMEM;
}

static uint64_t read_ratio(const hub_otel_source *source)
{
    static const char *const NAME = "OTEL_TRACES_SAMPLER_ARG";
    hub_str value = get(source, NAME);
    double ratio = 1.;
    if (value.len == 0) {
        return HUB_OTEL_ALL_TRACES;
    }
    if (hub_json_check(value, NULL, NULL) != HUB_OK || !hub_json_to_double(value, &ratio) ||
        !(ratio >= 0. && ratio <= 1.)) {
        ignore(source, NAME, "it is not a number from 0 to 1, as 0.01");
        return HUB_OTEL_ALL_TRACES;
    }
    return (uint64_t)(ratio * (double)HUB_OTEL_ALL_TRACES);
}

static hub_otel_sampler read_sampler(const hub_otel_source *source)
{
    static const char *const NAME = "OTEL_TRACES_SAMPLER";
    static const char PARENT[] = "parentbased_";
    hub_str value = get(source, NAME);
    hub_otel_sampler sampler = {.asks_parent = true, .bound = HUB_OTEL_ALL_TRACES};
    if (value.len == 0) {
        return sampler;
    }
    bool asks = hub_str_starts(value, hub_str_of(PARENT));
    hub_str kind = asks ? hub_str_from(value, sizeof PARENT - 1) : value;
    if (hub_str_is(kind, "always_on")) {
        sampler.asks_parent = asks;
    } else if (hub_str_is(kind, "always_off")) {
        sampler = (hub_otel_sampler){.asks_parent = asks, .bound = 0};
    } else if (hub_str_is(kind, "traceidratio")) {
        sampler = (hub_otel_sampler){.asks_parent = asks, .bound = read_ratio(source)};
    } else {
        ignore(source, NAME,
               "always_on, always_off and traceidratio are all there is, each with parentbased_ "
               "before it or without");
    }
    return sampler;
}

/* Delays and sizes, of which each signal has variables under a name of its own. */
static void read_batches(const hub_otel_source *source, hub_otel_batch batches[HUB_OTEL_SIGNALS])
{
    enum { LONGEST_MS = 3600000 };
    static const struct {
        hub_otel_signal signal;
        const char *delay;
        uint32_t usual_ms;
        const char *queue;
        const char *most;
    } ROWS[] = {
        {HUB_OTEL_TRACES, "OTEL_BSP_SCHEDULE_DELAY", 5000, "OTEL_BSP_MAX_QUEUE_SIZE",
         "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"},
        {HUB_OTEL_LOGS, "OTEL_BLRP_SCHEDULE_DELAY", 1000, "OTEL_BLRP_MAX_QUEUE_SIZE",
         "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        hub_otel_batch *batch = &batches[ROWS[i].signal];
        batch->delay_ms = get_number(source, ROWS[i].delay, 1, LONGEST_MS, ROWS[i].usual_ms);
        batch->queue = get_number(source, ROWS[i].queue, 1, HUB_LIMIT_OTEL_QUEUE, 2048);
        batch->most = get_number(source, ROWS[i].most, 1, HUB_LIMIT_OTEL_QUEUE, 512);
        batch->most = batch->most < batch->queue ? batch->most : batch->queue;
    }
    batches[HUB_OTEL_METRICS] = (hub_otel_batch){
        .delay_ms = get_number(source, "OTEL_METRIC_EXPORT_INTERVAL", 100, LONGEST_MS, 60000),
        .queue = 1,
        .most = 1};
}

hub_err hub_otel_read(const hub_otel_source *source, hub_otel_settings *ret_settings)
{
    hub_err err = HUB_OK;
    *ret_settings = (hub_otel_settings){.resource = NULL};
    if (is_true(source, "OTEL_SDK_DISABLED")) {
        return HUB_OK;
    }
    for (int signal = 0; err == HUB_OK && signal < HUB_OTEL_SIGNALS; signal++) {
        err = read_target(source, (hub_otel_signal)signal, &ret_settings->targets[signal]);
    }
    if (err == HUB_OK && hub_otel_is_on(ret_settings)) {
        err = read_resource(source, &ret_settings->resource);
        ret_settings->sampler = read_sampler(source);
        ret_settings->keeps_content =
            is_true(source, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        read_batches(source, ret_settings->batches);
    }
    if (err != HUB_OK) {
        hub_otel_fini(ret_settings);
    }
    return err;
}

void hub_otel_fini(hub_otel_settings *settings)
{
    for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
        hub_otel_target *target = &settings->targets[signal];
        free(target->url);
        free(target->headers);
        free(target->ca);
    }
    free(settings->resource);
    *settings = (hub_otel_settings){.resource = NULL};
}

bool hub_otel_is_on(const hub_otel_settings *settings)
{
    for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
        if (settings->targets[signal].url != NULL) {
            return true;
        }
    }
    return false;
}
