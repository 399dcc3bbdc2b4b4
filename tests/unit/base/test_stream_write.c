/* SPDX-License-Identifier: Apache-2.0 */
/* hub_stream, the writing side: batching, large messages, the queue, back-pressure. */
#include "stream_support.h"

static void answer(fixture *f, hub_str message)
{
    assert_int_equal(send_text(f, message), HUB_OK);
}

/* ---- one line per message -------------------------------------------------------------------- */

static void test_parts(void **state)
{
    (void)state;
    fixture f;
    hub_str parts[HUB_STREAM_PARTS];
    static const char expected[] = "0123456789abcdefghijklmnopqrstuv\n";
    start(&f);
    for (size_t i = 0; i < HUB_STREAM_PARTS; i++) {
        parts[i] = (hub_str){.ptr = &expected[i], .len = 1};
    }
    assert_int_equal(hub_stream_send(f.stream, parts, HUB_STREAM_PARTS, NULL), HUB_OK);
    assert_int_equal(hub_stream_queued(f.stream), HUB_STREAM_PARTS + 1);
    assert_peer_got(&f, expected);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    hub_str holes[] = {{0}, HUB_STR("{"), {0}, HUB_STR_EMPTY, HUB_STR("}"), {0}};
    assert_int_equal(hub_stream_send(f.stream, holes, 6, NULL), HUB_OK);
    assert_peer_got(&f, "{}\n");
    finish(&f);
}

/* Nothing but the end of a message is a newline, in a small message and in one of `padding` bytes.
 */
static void check_line_ends(size_t padding)
{
    fixture f;
    hub_buf got;
    char *text = make_text(padding, 1);
    hub_str parts[] = {HUB_STR("\n{\r\n  \"a\": \"\\n\","),
                       HUB_STR("\n"),
                       HUB_STR("\t\"b\":"),
                       {.ptr = text, .len = padding},
                       HUB_STR("}\r\n")};
    start(&f);
    hub_buf_init(&got, SIZE_MAX);
    assert_int_equal(send_text(&f, HUB_STR("1")), HUB_OK);
    assert_int_equal(hub_stream_send(f.stream, parts, 5, NULL), HUB_OK);
    assert_int_equal(send_text(&f, HUB_STR("2")), HUB_OK);
    peer_reads_all(&f, &got);
    const char *line = got.ptr;
    assert_memory_equal(line, "1\n {    \"a\": \"\\n\", \t\"b\":", 24);
    assert_memory_equal(line + 24, text, padding);
    assert_memory_equal(line + 24 + padding, "}  \n2\n", 6);
    assert_int_equal(got.len, 24 + padding + 6);
    finish(&f);
    hub_buf_fini(&got);
    free(text);
}

static void test_no_newline_within_a_message(void **state)
{
    (void)state;
    check_line_ends(0);
    check_line_ends(100);
    check_line_ends(16 * 1024);
    check_line_ends(4 * MIB);
}

static void test_frames_keep_newlines(void **state)
{
    (void)state;
    fixture f;
    hub_str parts[] = {HUB_STR("{\r\n"), HUB_STR("}\n")};
    start(&f);
    peer_says(&f, HUB_STR("content-length: 2\n\n{}"));
    settle(&f);
    assert_int_equal(hub_stream_send(f.stream, parts, 2, NULL), HUB_OK);
    assert_int_equal(send_text(&f, HUB_STR("[]")), HUB_OK);
    assert_peer_got(&f, "Content-Length: 5\r\n\r\n{\r\n}\nContent-Length: 2\r\n\r\n[]");
    finish(&f);
}

/* ---- batching -------------------------------------------------------------------------------- */

/* Each write is one packet of this kind of socket. */
static size_t count_packets(const fixture *f, size_t *ret_bytes)
{
    static char packet[128 * 1024];
    size_t packets = 0;
    *ret_bytes = 0;
    for (;;) {
        ssize_t count = read(f->peer, packet, sizeof packet);
        if (count < 0) {
            assert_int_equal(errno, EAGAIN);
            return packets;
        }
        packets++;
        *ret_bytes += (size_t)count;
    }
}

/* So many messages of eight bytes each. */
static void send_eights(fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(send_text(f, HUB_STR("{\"x\":1}")), HUB_OK);
    }
}

static void test_one_iteration_one_write(void **state)
{
    (void)state;
    fixture f;
    size_t bytes;
    prepare(&f);
    open_pair(&f, SOCK_SEQPACKET);
    send_eights(&f, 511);
    assert_int_equal(count_packets(&f, &bytes), 0);
    (void)ev_run(f.loop, EVRUN_NOWAIT);
    assert_int_equal(count_packets(&f, &bytes), 1);
    assert_int_equal(bytes, 4088);
    f.act = answer; /* and answers to what arrived together leave together */
    assert_int_equal(write(f.peer, "1\n2\n3\n4\n", 8), 8);
    settle(&f);
    assert_int_equal(count_packets(&f, &bytes), 1);
    assert_int_equal(bytes, 8);
    finish(&f);
}

/* The peer begins with 4 KiB while the rest is made. */
static void test_a_large_batch_leaves_in_parts(void **state)
{
    (void)state;
    fixture f;
    size_t bytes;
    prepare(&f);
    open_pair(&f, SOCK_SEQPACKET);
    send_eights(&f, 512);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    assert_int_equal(count_packets(&f, &bytes), 1);
    assert_int_equal(bytes, 4096);
    send_eights(&f, 1000);
    assert_int_equal(count_packets(&f, &bytes), 1);
    (void)ev_run(f.loop, EVRUN_NOWAIT);
    assert_int_equal(count_packets(&f, &bytes), 1);
    assert_int_equal(bytes, 8000 - 4096);
    finish(&f);
}

static void test_a_large_message_does_not_wait(void **state)
{
    (void)state;
    fixture f;
    size_t bytes;
    char *text = make_text(32 * 1024, 1);
    prepare(&f);
    open_pair(&f, SOCK_SEQPACKET);
    assert_int_equal(send_text(&f, HUB_STR("1")), HUB_OK);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 32 * 1024}), HUB_OK);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    assert_int_equal(count_packets(&f, &bytes), 2); /* what was before it left before it */
    assert_int_equal(bytes, 2 + 32 * 1024 + 1);
    finish(&f);
    free(text);
}

/* ---- large messages and slow readers --------------------------------------------------------- */

static void check_slow_reader(const size_t *sizes, size_t count, size_t read_bytes)
{
    fixture f;
    hub_buf sent;
    hub_buf got;
    start(&f);
    hub_buf_init(&sent, SIZE_MAX);
    hub_buf_init(&got, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        char *text = make_text(sizes[i], (unsigned)i);
        hub_str parts[] = {{.ptr = text, .len = sizes[i] / 3},
                           {.ptr = text + sizes[i] / 3, .len = sizes[i] - sizes[i] / 3}};
        assert_int_equal(hub_stream_send(f.stream, parts, 2, NULL), HUB_OK);
        hub_buf_add(&sent, (hub_str){.ptr = text, .len = sizes[i]});
        hub_buf_add_char(&sent, '\n');
        free(text);
        if (i % 3 == 0) {
            (void)peer_reads(&f, &got, read_bytes);
        }
    }
    while (got.len < sent.len) {
        (void)ev_run(f.loop, EVRUN_NOWAIT);
        (void)peer_reads(&f, &got, read_bytes);
    }
    assert_int_equal(got.len, sent.len);
    assert_memory_equal(got.ptr, sent.ptr, sent.len);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    hub_buf_fini(&sent);
    hub_buf_fini(&got);
    finish(&f);
}

static void test_a_big_message_through_a_slow_reader(void **state)
{
    (void)state;
    const size_t size = 16 * MIB;
    check_slow_reader(&size, 1, 4096);
}

/* Pipes are made wide for large messages, and only for them, as far as this user may. */
static void test_wide_pipes(void **state)
{
    (void)state;
    enum { SIZE = 200 * 1024 };
    fixture f;
    int in[2];
    int out[2];
    char *text = make_text(SIZE, 1);
    prepare(&f);
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    int narrow = fcntl(in[0], F_GETPIPE_SZ);
    int wide = fcntl(in[0], F_SETPIPE_SZ, MIB / 4) > 0 ? MIB / 4 : narrow;
    assert_true(fcntl(in[0], F_SETPIPE_SZ, narrow) > 0);
    f.options.read_fd = in[0];
    f.options.write_fd = out[1];
    f.options.max_message_bytes = MIB;
    f.peer = in[1];
    open_stream(&f);

    peer_says(&f, HUB_STR("[1]\n"));
    assert_int_equal(send_text(&f, HUB_STR("[1]")), HUB_OK);
    settle(&f);
    assert_int_equal(fcntl(in[0], F_GETPIPE_SZ), narrow);
    assert_int_equal(fcntl(out[1], F_GETPIPE_SZ), narrow);

    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = SIZE}), HUB_OK);
    settle(&f);
    assert_int_equal(fcntl(out[1], F_GETPIPE_SZ), wide);
    assert_true(wide == narrow || hub_stream_queued(f.stream) == 0);
    peer_says(&f, (hub_str){.ptr = text, .len = SIZE});
    settle(&f);
    assert_int_equal(fcntl(in[0], F_GETPIPE_SZ), wide);
    assert_int_equal(f.messages, 1); /* the large one has not ended */
    finish(&f);
    assert_int_equal(close(out[0]), 0);
    free(text);
}

static void test_a_wider_pipe_stays_so(void **state)
{
    (void)state;
    enum { SIZE = 200 * 1024 };
    fixture f;
    int in[2];
    char *text = make_text(SIZE, 1);
    prepare(&f);
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    (void)fcntl(in[0], F_SETPIPE_SZ, MIB); /* as far as this user may */
    int size = fcntl(in[0], F_GETPIPE_SZ);
    f.options.read_fd = in[0];
    f.options.write_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    f.options.max_message_bytes = MIB;
    f.peer = in[1];
    open_stream(&f);
    peer_says(&f, (hub_str){.ptr = text, .len = SIZE});
    settle(&f);
    assert_true(fcntl(in[0], F_GETPIPE_SZ) >= size);
    assert_int_equal(f.messages, 0); /* it has not ended */
    finish(&f);
    free(text);
}

/* Direct and queued writes in turn, with a queue before them and without. */
static void test_order(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    size_t sizes[COUNT];
    unsigned seed = 1;
    for (size_t i = 0; i < COUNT; i++) {
        static const size_t SCALES[] = {10, 1000, 16 * 1024, 40 * 1024, 300 * 1024};
        seed = seed * 1664525u + 1013904223u;
        size_t scale = SCALES[(seed >> 20) % 5];
        sizes[i] = 1 + (seed >> 8) % scale;
    }
    check_slow_reader(sizes, COUNT, 100 * 1000);
    check_slow_reader(sizes, COUNT, 2 * MIB);
    const size_t edges[] = {16 * 1024 - 2, 16 * 1024 - 1, 16 * 1024, 1, 0, 0, 256 * 1024, 1};
    check_slow_reader(edges, sizeof edges / sizeof edges[0], 4096);
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void test_queue_limit(void **state)
{
    (void)state;
    fixture f;
    char *text = make_text(200, 1);
    prepare(&f);
    f.options.max_queue_bytes = 100;
    open_pair(&f, SOCK_STREAM);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 100}), HUB_ELIMIT);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 99}), HUB_OK); /* a newline more */
    assert_int_equal(hub_stream_queued(f.stream), 100);
    assert_int_equal(send_text(&f, HUB_STR_EMPTY), HUB_ELIMIT);
    settle(&f);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 49}), HUB_OK);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 50}), HUB_ELIMIT);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 49}), HUB_OK);
    assert_int_equal(hub_stream_queued(f.stream), 100);
    finish(&f);
    free(text);
}

/* A reader that stops: the queue fills to its limit, to the byte, and everything in it arrives. */
static void test_a_full_queue_is_kept(void **state)
{
    (void)state;
    fixture f;
    hub_buf got;
    char *text = make_text(64 * 1024 - 1, 5);
    size_t accepted = 0;
    prepare(&f);
    f.options.max_queue_bytes = 2 * MIB;
    open_pair(&f, SOCK_STREAM);
    hub_buf_init(&got, SIZE_MAX);
    for (int round = 0; round < 50; round++) {
        while (send_text(&f, (hub_str){.ptr = text, .len = 64 * 1024 - 1}) == HUB_OK) {
            accepted++;
        }
        assert_true(hub_stream_queued(f.stream) <= 2 * MIB);
        assert_true(hub_stream_queued(f.stream) > 2 * MIB - 64 * 1024);
        for (int i = 0; i < 10; i++) {
            (void)peer_reads(&f, &got, 77777);
            settle(&f);
        }
    }
    assert_true(accepted > 100);
    peer_reads_all(&f, &got);
    assert_int_equal(got.len, accepted * 64 * 1024);
    for (size_t i = 0; i < accepted; i++) {
        assert_memory_equal(got.ptr + i * 64 * 1024, text, 64 * 1024 - 1);
        assert_int_equal(got.ptr[i * 64 * 1024 + 64 * 1024 - 1], '\n');
    }
    hub_buf_fini(&got);
    finish(&f);
    free(text);
}

/* ---- back-pressure --------------------------------------------------------------------------- */

enum { BIG = 100 * 1000 };

static char *big_text;

static void answer_big(fixture *f, hub_str message)
{
    hub_str parts[] = {message, {.ptr = big_text, .len = BIG}};
    assert_int_equal(hub_stream_send(f->stream, parts, 2, NULL), HUB_OK);
    assert_true(hub_stream_queued(f->stream) <= MIB + BIG + 10);
}

/* A client that asks and does not read, until it does. */
static void test_pause_and_resume(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    fixture f;
    hub_buf got;
    big_text = make_text(BIG, 9);
    prepare(&f);
    f.options.pause_above_bytes = MIB;
    open_pair(&f, SOCK_STREAM);
    f.act = answer_big;
    hub_buf_init(&got, SIZE_MAX);
    for (int i = 0; i < COUNT; i++) {
        char line[16];
        (void)snprintf(line, sizeof line, "%04d\n", i);
        peer_says(&f, hub_str_of(line));
    }
    settle(&f);
    assert_true(f.messages >= 10 && f.messages < 20);
    assert_true(hub_stream_queued(f.stream) > MIB);
    size_t before = f.messages;
    settle(&f);
    assert_int_equal(f.messages, before);
    for (;;) {
        while (peer_reads(&f, &got, 30000) > 0) {
        }
        if (got.len >= (size_t)COUNT * (BIG + 5)) {
            break;
        }
        (void)ev_run(f.loop, EVRUN_ONCE); /* it must not wait for more input: none will come */
    }
    assert_int_equal(f.messages, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%04zu", i);
        assert_memory_equal(got.ptr + i * (BIG + 5), number, 4);
        assert_memory_equal(got.ptr + i * (BIG + 5) + 4, big_text, BIG);
    }
    hub_buf_fini(&got);
    finish(&f);
    free(big_text);
}

/* The pause ends while the loop prepares to wait: what is answered then must leave all the same. */
static void test_resuming_needs_no_other_event(void **state)
{
    (void)state;
    fixture f;
    hub_buf got;
    prepare(&f);
    f.options.pause_above_bytes = 1;
    open_pair(&f, SOCK_STREAM);
    f.act = answer;
    hub_buf_init(&got, SIZE_MAX);
    peer_says(&f, HUB_STR("1\n2\n3\n4\n5\n6\n7\n8\n"));
    while (got.len < 16) {
        (void)ev_run(f.loop, EVRUN_ONCE);
        (void)peer_reads(&f, &got, 100);
    }
    assert_text(&got, "1\n2\n3\n4\n5\n6\n7\n8\n");
    hub_buf_fini(&got);
    finish(&f);
}

static void test_the_end_is_not_lost_in_a_pause(void **state)
{
    (void)state;
    fixture f;
    hub_buf got;
    big_text = make_text(BIG, 9);
    prepare(&f);
    f.options.pause_above_bytes = MIB;
    open_pair(&f, SOCK_STREAM);
    f.act = answer_big;
    hub_buf_init(&got, SIZE_MAX);
    for (int i = 0; i < 40; i++) {
        peer_says(&f, HUB_STR("0\n"));
    }
    peer_says(&f, HUB_STR("1")); /* without newline */
    assert_int_equal(shutdown(f.peer, SHUT_WR), 0);
    settle(&f);
    assert_int_equal(f.ends, 0);
    peer_reads_all(&f, &got);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.messages, 41);
    assert_int_equal(got.len, 41 * (BIG + 2));
    hub_buf_fini(&got);
    finish(&f);
    free(big_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_no_newline_within_a_message),
        cmocka_unit_test(test_frames_keep_newlines),
        cmocka_unit_test(test_one_iteration_one_write),
        cmocka_unit_test(test_a_large_batch_leaves_in_parts),
        cmocka_unit_test(test_a_large_message_does_not_wait),
        cmocka_unit_test(test_a_big_message_through_a_slow_reader),
        cmocka_unit_test(test_wide_pipes),
        cmocka_unit_test(test_a_wider_pipe_stays_so),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_queue_limit),
        cmocka_unit_test(test_a_full_queue_is_kept),
        cmocka_unit_test(test_pause_and_resume),
        cmocka_unit_test(test_resuming_needs_no_other_event),
        cmocka_unit_test(test_the_end_is_not_lost_in_a_pause),
    };
    ignore_sigpipe();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
