/* SPDX-License-Identifier: Apache-2.0 */
/* What the variables of OpenTelemetry mean, and which values are told and ignored. */
#include "hub/telemetry/otel.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct variable {
    const char *name;
    const char *value;
} variable;

static const variable *set;
static char ignored[64]; /* the last one */
static size_t ignored_count;

static const char *get(void *ctx, const char *name)
{
    (void)ctx;
    for (const variable *at = set; at->name != NULL; at++) {
        if (strcmp(at->name, name) == 0) {
            return at->value;
        }
    }
    return NULL;
}

static void on_ignored(void *ctx, const char *name, const char *why)
{
    (void)ctx;
    assert_true(strlen(why) > 0);
    (void)snprintf(ignored, sizeof ignored, "%s", name);
    ignored_count++;
}

static hub_otel_settings read_all(const variable *variables)
{
    const hub_otel_source source = {.get = get, .on_ignored = on_ignored};
    hub_otel_settings settings;
    set = variables;
    ignored[0] = '\0';
    ignored_count = 0;
    assert_int_equal(hub_otel_read(&source, &settings), HUB_OK);
    return settings;
}

#define VARIABLES(...)                                                                             \
    (const variable[])                                                                             \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }
#define ENDPOINT                                                                                   \
    {                                                                                              \
        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"                                             \
    }

static void check_url(const variable *variables, hub_otel_signal signal, const char *wanted)
{
    hub_otel_settings settings = read_all(variables);
    const char *url = settings.targets[signal].url;
    if (wanted == NULL) {
        assert_null(url);
    } else {
        assert_non_null(url);
        assert_string_equal(url, wanted);
    }
    hub_otel_fini(&settings);
}

static void test_where_to(void **state)
{
    (void)state;
    check_url(VARIABLES({"X", "y"}), HUB_OTEL_TRACES, NULL);
    check_url(VARIABLES(ENDPOINT), HUB_OTEL_TRACES, "http://c:4318/v1/traces");
    check_url(VARIABLES(ENDPOINT), HUB_OTEL_METRICS, "http://c:4318/v1/metrics");
    check_url(VARIABLES({"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c/base/"}), HUB_OTEL_LOGS,
              "https://c/base/v1/logs");
    check_url(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x"}),
              HUB_OTEL_TRACES, "http://t/x");
    check_url(VARIABLES({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x"}), HUB_OTEL_LOGS, NULL);
    check_url(VARIABLES({"OTEL_TRACES_EXPORTER", "otlp"}), HUB_OTEL_TRACES,
              "http://localhost:4318/v1/traces");
    check_url(VARIABLES(ENDPOINT, {"OTEL_TRACES_EXPORTER", "none"}), HUB_OTEL_TRACES, NULL);
    check_url(VARIABLES(ENDPOINT, {"OTEL_SDK_DISABLED", "TRUE"}), HUB_OTEL_TRACES, NULL);
    check_url(VARIABLES({"OTEL_EXPORTER_OTLP_ENDPOINT", "  "}), HUB_OTEL_TRACES, NULL);
    assert_int_equal(ignored_count, 0);
    check_url(VARIABLES({"OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"}), HUB_OTEL_TRACES, NULL);
    assert_string_equal(ignored, "OTEL_EXPORTER_OTLP_ENDPOINT");
    check_url(VARIABLES(ENDPOINT, {"OTEL_LOGS_EXPORTER", "console"}), HUB_OTEL_LOGS,
              "http://c:4318/v1/logs");
    assert_string_equal(ignored, "OTEL_LOGS_EXPORTER");
}

static void test_headers(void **state)
{
    (void)state;
    hub_otel_settings settings = read_all(
        VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_HEADERS", " a = 1%2C2 ,, b=Bearer%20x=y "}));
    assert_string_equal(settings.targets[HUB_OTEL_LOGS].headers,
                        "Expect:\na: 1,2\nb: Bearer x=y\n");
    hub_otel_fini(&settings);
    static const char *const BROKEN[] = {"a",    "=b",    "a=%0d%0aX: y", "a=%zz",
                                         "a=%4", "a:b=c", "a b=c"};
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        settings = read_all(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_HEADERS", BROKEN[i]}));
        assert_string_equal(settings.targets[HUB_OTEL_TRACES].headers, "Expect:\n");
        assert_string_equal(ignored, "OTEL_EXPORTER_OTLP_HEADERS");
        hub_otel_fini(&settings);
    }
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_HEADERS", "a=1"},
                                  {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"}));
    assert_string_equal(settings.targets[HUB_OTEL_TRACES].headers, "Expect:\nb: 2\n");
    assert_string_equal(settings.targets[HUB_OTEL_LOGS].headers, "Expect:\na: 1\n");
    hub_otel_fini(&settings);
}

static void test_resource(void **state)
{
    (void)state;
    hub_otel_settings settings = read_all(VARIABLES(
        ENDPOINT, {"OTEL_SERVICE_NAME", "mine"},
        {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=a%22b"}));
    assert_non_null(strstr(settings.resource,
                           "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mine\"}}"));
    assert_null(strstr(settings.resource, "other"));
    assert_non_null(strstr(settings.resource, "a\\\"b"));
    assert_non_null(strstr(settings.resource, "service.instance.id"));
    hub_otel_fini(&settings);
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_RESOURCE_ATTRIBUTES", "service.name=listed"}));
    assert_non_null(strstr(settings.resource, "\"listed\""));
    assert_null(
        strstr(settings.resource, "\"service.name\",\"value\":{\"stringValue\":\"patchbay\""));
    hub_otel_fini(&settings);
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_RESOURCE_ATTRIBUTES", "a=1,b"}));
    assert_null(strstr(settings.resource, "\"a\""));
    assert_string_equal(ignored, "OTEL_RESOURCE_ATTRIBUTES");
    hub_otel_fini(&settings);
}

static void test_sampler(void **state)
{
    static const uint64_t ALL = (uint64_t)1 << 63;
    static const struct {
        const char *name;
        const char *argument;
        bool asks_parent;
        uint64_t bound;
        size_t ignored;
    } CASES[] = {
        {"always_on", NULL, false, ALL, 0},
        {"always_off", NULL, false, 0, 0},
        {"parentbased_always_on", NULL, true, ALL, 0},
        {"parentbased_always_off", NULL, true, 0, 0},
        {"traceidratio", "0.5", false, ALL / 2, 0},
        {"parentbased_traceidratio", "0.25", true, ALL / 4, 0},
        {"traceidratio", "1", false, ALL, 0},
        {"traceidratio", "0", false, 0, 0},
        {"traceidratio", NULL, false, ALL, 0},
        {"traceidratio", "1.1", false, ALL, 1},
        {"traceidratio", "-1", false, ALL, 1},
        {"traceidratio", "much", false, ALL, 1},
        {"traceidratio", "1e999", false, ALL, 1},
        {"jaeger_remote", NULL, true, ALL, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_otel_settings settings =
            read_all(VARIABLES(ENDPOINT, {"OTEL_TRACES_SAMPLER", CASES[i].name},
                               {"OTEL_TRACES_SAMPLER_ARG", CASES[i].argument}));
        assert_int_equal(settings.sampler.asks_parent, CASES[i].asks_parent);
        assert_true(settings.sampler.bound == CASES[i].bound);
        assert_int_equal(ignored_count, CASES[i].ignored);
        hub_otel_fini(&settings);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    hub_otel_settings settings = read_all(VARIABLES(ENDPOINT));
    assert_int_equal(settings.batches[HUB_OTEL_TRACES].delay_ms, 5000);
    assert_int_equal(settings.batches[HUB_OTEL_TRACES].queue, 2048);
    assert_int_equal(settings.batches[HUB_OTEL_TRACES].most, 512);
    assert_int_equal(settings.batches[HUB_OTEL_LOGS].delay_ms, 1000);
    assert_int_equal(settings.batches[HUB_OTEL_METRICS].delay_ms, 60000);
    assert_int_equal(settings.targets[HUB_OTEL_TRACES].timeout_ms, 10000);
    hub_otel_fini(&settings);
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_BSP_MAX_QUEUE_SIZE", "65536"},
                                  {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "65536"},
                                  {"OTEL_EXPORTER_OTLP_TIMEOUT", "1"}));
    assert_int_equal(settings.batches[HUB_OTEL_TRACES].queue, HUB_LIMIT_OTEL_QUEUE);
    assert_int_equal(settings.targets[HUB_OTEL_TRACES].timeout_ms, 1);
    assert_int_equal(ignored_count, 0);
    hub_otel_fini(&settings);
    static const char *const WRONG[] = {
        "65537", "0", "-1", "1.5", "many", "0x10", "99999999999999999999"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        settings = read_all(VARIABLES(ENDPOINT, {"OTEL_BSP_MAX_QUEUE_SIZE", WRONG[i]}));
        assert_int_equal(settings.batches[HUB_OTEL_TRACES].queue, 2048);
        assert_string_equal(ignored, "OTEL_BSP_MAX_QUEUE_SIZE");
        hub_otel_fini(&settings);
    }
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_BSP_MAX_QUEUE_SIZE", "10"}));
    assert_int_equal(settings.batches[HUB_OTEL_TRACES].most, 10); /* no more than there can be */
    hub_otel_fini(&settings);
}

/* What the hub cannot do as asked is told, and done another way. */
static void test_forms(void **state)
{
    (void)state;
    hub_otel_settings settings =
        read_all(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                           {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"}));
    assert_int_equal(ignored_count, 0);
    hub_otel_fini(&settings);
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"}));
    assert_string_equal(ignored, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
    assert_true(hub_otel_is_on(&settings));
    hub_otel_fini(&settings);
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"}));
    assert_int_equal(ignored_count, 3); /* of each signal */
    hub_otel_fini(&settings);
}

static void test_too_long(void **state)
{
    static char text[HUB_LIMIT_OTEL_VALUE_BYTES + 2];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 2] = '\0'; /* as long as may be */
    hub_otel_settings settings = read_all(VARIABLES(ENDPOINT, {"OTEL_SERVICE_NAME", text}));
    assert_int_equal(ignored_count, 0);
    hub_otel_fini(&settings);
    text[sizeof text - 2] = 'x';
    settings = read_all(VARIABLES(ENDPOINT, {"OTEL_SERVICE_NAME", text}));
    assert_string_equal(ignored, "OTEL_SERVICE_NAME");
    hub_otel_fini(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_to), cmocka_unit_test(test_headers),
        cmocka_unit_test(test_resource), cmocka_unit_test(test_sampler),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_forms),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
