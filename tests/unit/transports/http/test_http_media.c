/* SPDX-License-Identifier: Apache-2.0 */
/* What clients take and send, and what browsers may (RELIABILITY H09, H11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/cors.h"
#include "http/media.h"

static void add(hub_http_request *request, hub_str name, hub_str value)
{
    hub_http_name known = hub_http_name_of(name);
    request->headers[request->header_count++] = (hub_http_header){name, value};
    if (known != HUB_HTTP_OTHER && request->first[known] == 0) {
        request->first[known] = (uint8_t)request->header_count;
    }
}

static hub_http_request request_with(const char *name, const char *first, const char *second)
{
    hub_http_request request = {.method = HUB_STR("OPTIONS")};
    if (first != NULL) {
        add(&request, hub_str_of(name), hub_str_of(first));
    }
    if (second != NULL) {
        add(&request, hub_str_of(name), hub_str_of(second));
    }
    return request;
}

static void test_accept(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        bool json;
        bool events;
    } CASES[] = {
        {NULL, NULL, true, true},
        {"", NULL, true, true},
        {" , ", NULL, true, true},
        {"*/*", NULL, true, true},
        {"application/json, text/event-stream", NULL, true, true},
        {"application/json", "text/event-stream", true, true},
        {"application/json", NULL, true, false},
        {"text/event-stream", NULL, false, true},
        {"APPLICATION/JSON;q=0.5 , Text/*", NULL, true, true},
        {"application/*", NULL, true, false},
        {"text/html", NULL, false, false},
        {"*/*;q=0", NULL, false, false},
        {"*/*, application/json;q=0", NULL, false, true},
        {"application/json;q=0, */*", NULL, false, true},
        {"application/*;q=0.000, */*;q=1", NULL, false, true},
        {"application/json;q=0.001", NULL, true, false},
        {"application/json;v=1;q=0", NULL, false, false},
        {"application/json; Q=0 ", NULL, false, false},
        {"application/json;q=00", NULL, true, false}, /* no weight: it does not say no */
        {"application/json;q=", NULL, true, false},
        {"application/jsonp, application/js", NULL, false, false},
        {"application", NULL, false, false},
        {"application/", NULL, false, false},
        {"*", NULL, false, false},
        {"*/json", NULL, false, false},
        {";q=1", NULL, false, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_http_request request = request_with("ACCEPT", CASES[i].first, CASES[i].second);
        bool json = hub_http_accepts(&request, HUB_STR("application/json"));
        bool events = hub_http_accepts(&request, HUB_STR("text/event-stream"));
        if (json != CASES[i].json || events != CASES[i].events) {
            fail_msg("Accept: %s", CASES[i].first);
        }
    }
}

static void test_content_type(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool is_json;
    } CASES[] = {
        {NULL, false},
        {"", false},
        {"application/json", true},
        {"Application/JSON", true},
        {"application/json; charset=utf-8", true},
        {"application/json;CHARSET=UTF-8", true},
        {"application/json; charset=\"utf-8\"", true},
        {"application/json; profile=x; charset=utf-8", true},
        {"application/json;", true},
        {"application/json; charset=latin1", false},
        {"application/json; charset=", false},
        {"application/json; charset=utf-16;charset=utf-8", false},
        {"application/json, application/json", false},
        {"application/jsonp", false},
        {"application/vnd.x+json", false},
        {"text/plain", false},
        {"text/plain; application/json", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_http_request request = request_with("content-type", CASES[i].value, NULL);
        if (hub_http_is_json(&request) != CASES[i].is_json) {
            fail_msg("Content-Type: %s", CASES[i].value);
        }
    }
}

static void test_preflights(void **state)
{
    (void)state;
    hub_http_request request = request_with("Access-Control-Request-Method", "POST", NULL);
    assert_false(hub_http_is_preflight(&request)); /* of nobody */
    add(&request, HUB_STR("Origin"), HUB_STR("http://localhost"));
    assert_true(hub_http_is_preflight(&request));
    request.method = HUB_STR("POST");
    assert_false(hub_http_is_preflight(&request));
    request = request_with("Origin", "http://localhost", NULL);
    assert_false(hub_http_is_preflight(&request)); /* for nothing */
}

static void test_headers_of_preflights(void **state)
{
    (void)state;
    static const char USUAL[] = "Accept, Authorization, Content-Type, Last-Event-ID, "
                                "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id";
    static const struct {
        const char *asked;
        const char *added;
    } CASES[] = {
        {NULL, ""},
        {"content-type, x-evil", ""},
        {"mcp-param-a,MCP-PARAM-B", ", mcp-param-a, MCP-PARAM-B"},
        {"mcp-param-, mcp-para, xmcp-param-a", ""},
        {"mcp-param-a b, mcp-param-:, mcp-param-c", ", mcp-param-c"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_http_request request =
            request_with("Access-Control-Request-Headers", CASES[i].asked, NULL);
        hub_buf out;
        hub_buf_init(&out, 1000);
        assert_int_equal(hub_http_cors_allow_headers(&request, &out), HUB_OK);
        assert_true(hub_str_starts(hub_buf_str(&out), hub_str_of(USUAL)));
        assert_true(hub_str_is(hub_str_from(hub_buf_str(&out), sizeof USUAL - 1), CASES[i].added));
        hub_buf_fini(&out);
        hub_buf_init(&out, 10);
        assert_int_equal(hub_http_cors_allow_headers(&request, &out), HUB_ELIMIT);
        hub_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_content_type),
        cmocka_unit_test(test_preflights),
        cmocka_unit_test(test_headers_of_preflights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
