/* SPDX-License-Identifier: Apache-2.0 */
/* hub_stream: large messages whose bytes are lent leave from where they lie. */
#include "stream_support.h"

enum { LARGE = 3 * 1024 * 1024 };

typedef struct lender {
    fixture f;
    char *text; /* what is lent */
    hub_str span;
    hub_lent lent;
    unsigned holds;
    unsigned releases;
    bool has_no_memory;
} lender;

static void *hold(void *owner)
{
    lender *of = owner;
    of->holds++;
    return of->has_no_memory ? NULL : of;
}

static void release(void *held)
{
    ((lender *)held)->releases++;
}

static void begin(lender *of)
{
    memset(of, 0, sizeof *of);
    start(&of->f);
    of->text = make_text(LARGE, 5);
    of->span = (hub_str){.ptr = of->text, .len = LARGE};
    of->lent = (hub_lent){
        .spans = &of->span, .span_count = 1, .hold = hold, .release = release, .owner = of};
}

/* Send the text between two small parts, which are gone when this returns. */
static void send_large(lender *of)
{
    char head[8] = "<head>";
    char tail[8] = "<tail>";
    hub_str parts[] = {hub_str_of(head), {0}, of->span, {0}, hub_str_of(tail)};
    assert_int_equal(hub_stream_send(of->f.stream, parts, 5, &of->lent), HUB_OK);
    memset(head, '?', sizeof head);
    memset(tail, '?', sizeof tail);
}

/* The peer gets `before`, the large message, and `after`. */
static void assert_got(lender *of, const char *before, const char *after)
{
    hub_buf got;
    size_t at = strlen(before);
    hub_buf_init(&got, SIZE_MAX);
    peer_reads_all(&of->f, &got);
    assert_int_equal(got.len, at + 6 + LARGE + 7 + strlen(after));
    assert_memory_equal(got.ptr, before, at);
    assert_memory_equal(got.ptr + at, "<head>", 6);
    assert_memory_equal(got.ptr + at + 6, of->text, LARGE);
    assert_memory_equal(got.ptr + at + 6 + LARGE, "<tail>\n", 7);
    assert_memory_equal(got.ptr + at + 6 + LARGE + 7, after, strlen(after));
    assert_int_equal(hub_stream_queued(of->f.stream), 0);
    hub_buf_fini(&got);
}

static void end(lender *of)
{
    finish(&of->f);
    assert_int_equal(of->releases, of->holds - of->has_no_memory);
    free(of->text);
}

/* It is held until it has left, what comes after it leaves after it, and a second one is copied. */
static void test_held_until_it_has_left(void **state)
{
    (void)state;
    lender of;
    begin(&of);
    send_large(&of);
    assert_int_equal(of.holds, 1);
    assert_int_equal(of.releases, 0);
    assert_true(hub_stream_queued(of.f.stream) > LARGE / 2);
    assert_int_equal(send_text(&of.f, HUB_STR("after")), HUB_OK);
    assert_got(&of, "", "after\n");
    assert_int_equal(of.holds, 1);
    assert_int_equal(of.releases, 1);
    assert_int_equal(send_text(&of.f, HUB_STR("again")), HUB_OK);
    send_large(&of);
    assert_got(&of, "again\n", "");
    assert_int_equal(of.holds, 2);
    end(&of);
}

/* What cannot be held, must be changed, or has to wait for others, is copied. */
static void test_copied_otherwise(void **state)
{
    (void)state;
    lender of;
    begin(&of);
    of.has_no_memory = true;
    send_large(&of);
    assert_int_equal(of.holds, 1);
    assert_got(&of, "", "");
    of.has_no_memory = false;
    of.holds = 0;
    send_large(&of);
    send_large(&of);
    assert_int_equal(of.holds, 1);
    hub_buf got;
    hub_buf_init(&got, SIZE_MAX);
    peer_reads_all(&of.f, &got);
    assert_int_equal(got.len, 2 * (LARGE + 13));
    assert_memory_equal(got.ptr, got.ptr + LARGE + 13, LARGE + 13);
    hub_buf_fini(&got);
    of.text[LARGE / 2] = '\n';
    send_large(&of);
    assert_int_equal(of.holds, 1);
    of.text[LARGE / 2] = ' ';
    assert_got(&of, "", "");
    end(&of);
}

/* Nobody reads it to its end. */
static void test_given_back(void **state)
{
    (void)state;
    lender of;
    begin(&of);
    send_large(&of);
    close_peer(&of.f);
    wait_for_end(&of.f);
    assert_int_equal(of.releases, 1);
    end(&of);
    begin(&of);
    send_large(&of);
    end(&of); /* the stream is closed while it waits */
}

/* The queue has room for so much, lent or not. */
static void test_the_queue_counts_it(void **state)
{
    (void)state;
    lender of;
    begin(&of);
    finish(&of.f);
    prepare(&of.f);
    of.f.options.max_queue_bytes = LARGE + 20;
    open_pair(&of.f, SOCK_STREAM);
    send_large(&of);
    hub_str parts[] = {of.span};
    assert_int_equal(hub_stream_send(of.f.stream, parts, 1, &of.lent), HUB_ELIMIT);
    assert_got(&of, "", "");
    end(&of);
}

static void never_evicted(hub_budget_account *account)
{
    (void)account;
    fail();
}

/* What a client holds by not reading has a bound, whoever made it. */
static void test_the_account_counts_it(void **state)
{
    (void)state;
    lender of;
    hub_budget budget;
    hub_budget_account account;
    hub_budget_init(&budget, LARGE + MIB);
    hub_budget_open(&account, &budget, never_evicted);
    begin(&of);
    finish(&of.f);
    prepare(&of.f);
    of.f.options.account = &account;
    open_pair(&of.f, SOCK_STREAM);
    send_large(&of);
    assert_int_equal(of.holds, 1);
    assert_true(budget.bytes > LARGE / 2);
    assert_got(&of, "", "");
    assert_int_equal(budget.bytes, 0);
    hub_budget_limit(&budget, LARGE / 2);
    hub_str parts[] = {of.span};
    assert_int_equal(hub_stream_send(of.f.stream, parts, 1, &of.lent), HUB_ELIMIT);
    assert_int_equal(of.holds, 1);
    end(&of);
    hub_budget_close(&account);
}

int main(void)
{
    ignore_sigpipe();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_until_it_has_left),
        cmocka_unit_test(test_copied_otherwise),
        cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_the_queue_counts_it),
        cmocka_unit_test(test_the_account_counts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
