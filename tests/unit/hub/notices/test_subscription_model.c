/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions held against a model: clients of both eras come and go, subscribe, cancel and
 * unsubscribe, in two profiles, while the toolset answers late, refuses, is disabled, enabled and
 * replaced; all in random order. After each step the toolset has been told exactly what somebody
 * wants to hear of, and an update reaches exactly those who do.
 */
#include "hub_fixture.h"
#include "hub/notices/subscription_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROFILES = 2, SESSIONS = 4, STREAMS = 6, URIS = 3, REQUESTS = 1 << 16, STEPS = 6000 };

static const char *const URI_TEXTS[URIS] = {"x:1", "x:2", "x:3"};

/* What the toolset was asked. */
typedef struct asked {
    patchbay_call call;
    size_t uri;
    bool is_open;
} asked;

/* What the toolset was told of a resource, by its present instance. */
typedef enum told { TOLD_NOTHING, TOLD_ASKED, TOLD_GIVEN_UP, TOLD_ALL } told;

/* A legacy client: what it wants, and which of its requests are not answered. */
typedef struct legacy {
    client *c;
    size_t profile;
    unsigned next_id;
    bool has[URIS];        /* was answered that it has it */
    unsigned waits[URIS];  /* requests that wait */
    unsigned ids[URIS][8]; /* … their ids */
} legacy;

/* A listen stream. */
typedef struct stream {
    bool is_open;
    unsigned id;
    bool has[URIS];
} stream;

static struct {
    hub_fixture fixture;
    puppet puppet;
    unsigned random;
    legacy sessions[SESSIONS];
    client *modern;
    stream streams[STREAMS];
    unsigned next_stream;
    bool is_active[PROFILES];
    unsigned instance; /* number of the present one */
    asked requests[REQUESTS];
    size_t count;
    told told[URIS];
    bool may_be_untold[URIS]; /* it refused: nobody has asked again since */
} m;

/* Marsaglia's xorshift: the bits of a linear congruence go hand in hand. */
static unsigned roll(unsigned sides)
{
    m.random ^= m.random << 13;
    m.random ^= m.random >> 17;
    m.random ^= m.random << 5;
    return m.random % sides;
}

/* ---- the toolset ----------------------------------------------------------------------------- */

static void on_call(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    size_t uri = 0;
    bool subscribes = hub_str_is(request->method, "resources/subscribe");
    if (!subscribes && !hub_str_is(request->method, "resources/unsubscribe")) {
        (void)puppet_finish(instance, call, "{\"content\":[]}");
        return;
    }
    while (!hub_str_is(request->tool, URI_TEXTS[uri])) {
        uri++;
        assert_true(uri < URIS);
    }
    if (instance->number != m.instance) { /* the first word to a new one */
        assert_true(instance->number > m.instance);
        m.instance = instance->number;
        memset(m.told, 0, sizeof m.told);
    }
    if (!subscribes) {
        assert_true(m.told[uri] == TOLD_ALL || m.told[uri] == TOLD_GIVEN_UP);
        m.told[uri] = TOLD_NOTHING;
        (void)puppet_finish(instance, call, "{}");
        return;
    }
    assert_int_equal(m.told[uri], TOLD_NOTHING); /* once for all */
    m.may_be_untold[uri] = false;
    if (roll(2) == 0) {
        m.told[uri] = TOLD_ALL;
        (void)puppet_finish(instance, call, "{}");
        return;
    }
    m.told[uri] = TOLD_ASKED;
    assert_true(m.count < REQUESTS);
    m.requests[m.count++] = (asked){.call = call, .uri = uri, .is_open = true};
}

static void on_cancel(puppet_instance *instance, patchbay_call call)
{
    for (size_t i = 0; i < m.count; i++) {
        asked *request = &m.requests[i];
        if (request->is_open && request->call.id == call.id) {
            request->is_open = false;
            if (instance->number == m.instance) {
                m.told[request->uri] = TOLD_GIVEN_UP;
            }
        }
    }
}

/* ---- what is wanted -------------------------------------------------------------------------- */

static bool session_wants(const legacy *s, size_t uri)
{
    return m.is_active[s->profile] && (s->has[uri] || s->waits[uri] > 0);
}

static bool stream_wants(const stream *s, size_t uri)
{
    return m.is_active[0] && s->is_open && s->has[uri];
}

static bool is_wanted(size_t uri)
{
    bool wanted = false;
    for (size_t i = 0; i < SESSIONS; i++) {
        wanted = wanted || session_wants(&m.sessions[i], uri);
    }
    for (size_t i = 0; i < STREAMS; i++) {
        wanted = wanted || stream_wants(&m.streams[i], uri);
    }
    return wanted;
}

static void check(void)
{
    for (size_t uri = 0; uri < URIS; uri++) {
        if (is_wanted(uri)) {
            assert_true(m.told[uri] == TOLD_ASKED || m.told[uri] == TOLD_ALL ||
                        (m.told[uri] == TOLD_NOTHING && m.may_be_untold[uri]));
        } else if (m.is_active[0] || m.is_active[1]) {
            assert_int_equal(m.told[uri], TOLD_NOTHING);
        }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *reply_to(const client *c, unsigned id)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", id);
    return client_reply(c, text);
}

/* Take note of the requests for a resource that have been answered meanwhile. */
static void settle(legacy *s, size_t uri)
{
    unsigned left = 0;
    for (unsigned i = 0; i < s->waits[uri]; i++) {
        const char *reply = reply_to(s->c, s->ids[uri][i]);
        if (reply == NULL) {
            s->ids[uri][left++] = s->ids[uri][i];
        } else {
            s->has[uri] = s->has[uri] || strstr(reply, "\"result\":{}") != NULL;
        }
    }
    s->waits[uri] = left;
}

static void settle_all(void)
{
    for (size_t i = 0; i < SESSIONS; i++) {
        for (size_t uri = 0; uri < URIS; uri++) {
            settle(&m.sessions[i], uri);
        }
    }
}

static unsigned request(legacy *s, const char *method, size_t uri)
{
    char id[16];
    char params[32];
    (void)snprintf(id, sizeof id, "%u", ++s->next_id);
    (void)snprintf(params, sizeof params, "\"uri\":\"%s\"", URI_TEXTS[uri]);
    client_request(s->c, id, method, params);
    return s->next_id;
}

static void subscribe(legacy *s, size_t uri)
{
    if (s->waits[uri] == sizeof s->ids[uri] / sizeof s->ids[uri][0]) {
        return;
    }
    s->ids[uri][s->waits[uri]++] = request(s, "resources/subscribe", uri);
    settle(s, uri);
    assert_true(m.is_active[s->profile] || (s->waits[uri] == 0));
}

static void unsubscribe(legacy *s, size_t uri)
{
    const char *reply = reply_to(s->c, request(s, "resources/unsubscribe", uri));
    assert_non_null(reply);
    assert_contains(reply, "\"result\":{}");
    settle(s, uri);
    assert_int_equal(s->waits[uri], 0); /* each has its answer */
    s->has[uri] = false;
}

static void cancel(legacy *s, size_t uri)
{
    if (s->waits[uri] > 0) {
        char id[16];
        unsigned at = roll(s->waits[uri]);
        (void)snprintf(id, sizeof id, "%u", s->ids[uri][at]);
        s->ids[uri][at] = s->ids[uri][--s->waits[uri]];
        client_cancel(s->c, id);
    }
}

static void reopen(legacy *s)
{
    client_close(s->c);
    size_t profile = s->profile;
    *s = (legacy){.profile = profile};
    s->c = client_open_in(&m.fixture, LEGACY, profile == 0 ? NULL : "second");
}

static void close_stream(stream *s)
{
    char id[16];
    if (s->is_open) {
        (void)snprintf(id, sizeof id, "%u", s->id);
        *s = (stream){.is_open = false};
        client_cancel(m.modern, id);
    }
}

static void set_active(size_t profile, bool is_active)
{
    const legacy *s = &m.sessions[profile]; /* one of each is at the beginning */
    m.is_active[profile] = is_active;
    (void)client_ask(s->c, "\"meta\"", is_active ? "enable_toolset" : "disable_toolset",
                     "{\"toolset\":\"t\"}");
    if (!m.is_active[0] && !m.is_active[1]) {
        memset(m.told, 0, sizeof m.told); /* there is no instance any more */
    }
}

/* Let the toolset answer; whether it agrees. */
static bool answer(asked *chosen)
{
    const puppet_instance *t = m.puppet.latest;
    bool agrees = roll(4) != 0;
    chosen->is_open = false;
    m.told[chosen->uri] = agrees ? TOLD_ALL : TOLD_NOTHING;
    m.may_be_untold[chosen->uri] = !agrees;
    assert_int_equal(t->api->finish(t->host, chosen->call,
                                    agrees ? PATCHBAY_RESULT : PATCHBAY_FAILED,
                                    puppet_str(agrees ? "{}" : "no")),
                     PATCHBAY_OK);
    return agrees;
}

static void answer_one(void)
{
    size_t open = 0;
    asked *chosen = NULL;
    for (size_t i = 0; i < m.count; i++) {
        if (m.requests[i].is_open && roll((unsigned)++open) == 0) {
            chosen = &m.requests[i];
        }
    }
    if (chosen != NULL) {
        (void)answer(chosen);
    }
}

/* A stream is acknowledged when the toolset has answered for all that it names, and has what the
 * toolset agreed to. */
static void wait_for_stream(stream *s)
{
    for (size_t i = 0; i < m.count; i++) {
        asked *request = &m.requests[i];
        if (request->is_open && s->has[request->uri]) {
            s->has[request->uri] = answer(request);
        }
    }
    char id[64];
    (void)snprintf(id, sizeof id, "subscriptionId\":%u},\"notifications\"", s->id);
    assert_int_equal(client_count(m.modern, id), 1);
}

static void open_stream(stream *s)
{
    char id[16];
    char params[128] = "\"notifications\":{\"resourceSubscriptions\":[";
    size_t len = strlen(params);
    if (s->is_open) {
        return;
    }
    *s = (stream){.is_open = true, .id = ++m.next_stream};
    const char *comma = "";
    for (size_t uri = 0; uri < URIS; uri++) {
        if (roll(2) == 0) {
            s->has[uri] = m.is_active[0]; /* else nobody has it: it is not acknowledged */
            len += (size_t)snprintf(params + len, sizeof params - len, "%s\"%s\"", comma,
                                    URI_TEXTS[uri]);
            comma = ",";
        }
    }
    (void)snprintf(params + len, sizeof params - len, "]}");
    (void)snprintf(id, sizeof id, "%u", s->id);
    client_request(m.modern, id, "subscriptions/listen", params);
    wait_for_stream(s);
}

static void replace_module(void)
{
    hub_toolset *toolset = hub_find_toolset(m.fixture.hub, HUB_STR("t"));
    if (toolset->binding != NULL) {
        /* What the old one is told in its end is not the new one's business. */
        for (size_t i = 0; i < m.count; i++) {
            m.requests[i].is_open = false;
        }
        memset(m.told, 0, sizeof m.told);
        assert_int_equal(hub_toolset_rebind(toolset, NULL), HUB_OK);
    }
}

/* Each who wants to hear of it does, once, and nobody else. */
static void update(size_t uri)
{
    const puppet_instance *t = m.puppet.latest;
    size_t want = 0;
    if (!m.is_active[0] && !m.is_active[1]) {
        return;
    }
    client_clear(m.modern);
    settle_all();
    for (size_t i = 0; i < SESSIONS; i++) {
        client_clear(m.sessions[i].c);
    }
    hub_notices_in(m.modern->session)->updates =
        (hub_bucket){0}; /* how often is another test's business */
    for (size_t i = 0; i < SESSIONS; i++) {
        hub_notices_in(m.sessions[i].c->session)->updates = (hub_bucket){0};
    }
    assert_int_equal(t->catalog->updated(t->host, puppet_str(URI_TEXTS[uri])), PATCHBAY_OK);
    for (size_t i = 0; i < SESSIONS; i++) {
        assert_int_equal(client_count(m.sessions[i].c, "resources/updated"),
                         session_wants(&m.sessions[i], uri));
    }
    for (size_t i = 0; i < STREAMS; i++) {
        if (stream_wants(&m.streams[i], uri)) {
            char id[64];
            (void)snprintf(id, sizeof id, "subscriptionId\":%u}", m.streams[i].id);
            assert_int_equal(client_count(m.modern, id), 1);
            want++;
        }
    }
    assert_int_equal(client_count(m.modern, "resources/updated"), want);
}

static void step(void)
{
    legacy *s = &m.sessions[roll(SESSIONS)];
    stream *t = &m.streams[roll(STREAMS)];
    size_t uri = roll(URIS);
    unsigned dice = roll(100);
    if (dice < 30) {
        subscribe(s, uri);
    } else if (dice < 44) {
        unsubscribe(s, uri);
    } else if (dice < 52) {
        cancel(s, uri);
    } else if (dice < 62) {
        open_stream(t);
    } else if (dice < 68) {
        close_stream(t);
    } else if (dice < 76) {
        answer_one();
    } else if (dice < 90) {
        update(uri);
    } else if (dice < 97) {
        size_t profile = roll(PROFILES);
        set_active(profile, !m.is_active[profile]);
    } else if (dice < 99) {
        replace_module();
    } else if (s >= &m.sessions[PROFILES]) {
        reopen(s);
    }
    settle_all();
    check();
    fixture_spin(&m.fixture, 1);
}

static void run(unsigned seed)
{
    memset(&m, 0, sizeof m);
    m.random = seed;
    m.puppet = (puppet){
        .resources = "[{\"uri\":\"x:1\",\"name\":\"r\"},{\"uri\":\"x:2\",\"name\":\"r\"}]",
        .templates = "[{\"uriTemplate\":\"x:{a}\",\"name\":\"t\"}]",
        .capabilities = "{\"resources\":{\"subscribe\":true}}",
        .on_call = on_call,
        .on_cancel = on_cancel,
    };
    fixture_init(&m.fixture);
    (void)fixture_toolset(&m.fixture, "t", &m.puppet, false);
    m.fixture.profiles[1] = m.fixture.profiles[0];
    m.fixture.profiles[1].name = "second";
    m.fixture.settings.profile_count = PROFILES;
    fixture_start(&m.fixture);
    m.instance = m.puppet.latest->number;
    m.is_active[0] = true;
    m.is_active[1] = true;
    m.modern = client_open(&m.fixture, MODERN);
    for (size_t i = 0; i < SESSIONS; i++) {
        m.sessions[i].profile = i % PROFILES;
        m.sessions[i].c = client_open_in(&m.fixture, LEGACY, i % PROFILES == 0 ? NULL : "second");
    }
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    for (size_t i = 0; i < STREAMS; i++) {
        close_stream(&m.streams[i]);
    }
    for (size_t i = 0; i < SESSIONS; i++) {
        for (size_t uri = 0; uri < URIS; uri++) {
            unsubscribe(&m.sessions[i], uri);
        }
    }
    check();
    assert_null(hub_notices_of(hub_find_toolset(m.fixture.hub, HUB_STR("t")))->subscriptions);
    fixture_stop(&m.fixture);
}

static void test_model(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        run(seed * 20260728u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
