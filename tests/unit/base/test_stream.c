/* SPDX-License-Identifier: Apache-2.0 */
/* hub_stream, the reading side. What the framing makes of bytes is in test_framing.c. */
#include "stream_support.h"

#include <sys/mman.h>

static const char LINES[] = "{\"a\":1}\n\r\n[2]\r\n   \n 3\n4";
static const char LINES_EVENTS[] = "[{\"a\":1}][[2]][3][4]<end of file>";
static const char FRAMES[] = "Content-Length: 2\r\n\r\n{}content-length:3\n\n[\n]\r\n";
static const char FRAMES_EVENTS[] = "[{}][[\n]]<end of file>";

static void check_split(const char *text, size_t first, size_t chunk, const char *events)
{
    fixture f;
    hub_str rest = hub_str_of(text);
    start(&f);
    for (size_t size = first; rest.len > 0; size = chunk) {
        size = size < rest.len ? size : rest.len;
        peer_says(&f, (hub_str){.ptr = rest.ptr, .len = size});
        (void)ev_run(f.loop, EVRUN_NOWAIT);
        rest = hub_str_from(rest, size);
    }
    close_peer(&f);
    wait_for_end(&f);
    assert_text(&f.events, events);
    finish(&f);
}

static void test_every_split(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof LINES; i++) {
        check_split(LINES, i, sizeof LINES, LINES_EVENTS);
    }
    for (size_t i = 1; i < sizeof FRAMES; i++) {
        check_split(FRAMES, i, sizeof FRAMES, FRAMES_EVENTS);
    }
    check_split(LINES, 1, 1, LINES_EVENTS);
    check_split(FRAMES, 1, 1, FRAMES_EVENTS);
}

static void test_no_detection(void **state)
{
    (void)state;
    fixture f;
    prepare(&f);
    f.options.detect_framing = false;
    open_pair(&f, SOCK_STREAM);
    peer_says(&f, HUB_STR("Content-Length: 2\r\n\r\n{}\n"));
    settle(&f);
    assert_text(&f.events, "[Content-Length: 2][{}]");
    finish(&f);
}

static void test_oversize(void **state)
{
    (void)state;
    fixture f;
    char *text = make_text(LIMIT + 1, 1);
    start(&f);
    peer_says(&f, (hub_str){.ptr = text, .len = LIMIT});
    peer_says(&f, HUB_STR("\r\n"));
    settle(&f);
    assert_int_equal(f.messages, 1);
    assert_int_equal(f.events.len, LIMIT + 2);
    hub_buf_clear(&f.events);
    peer_says(&f, (hub_str){.ptr = text, .len = LIMIT + 1});
    settle(&f);
    assert_text(&f.events, "!"); /* at once, not when the line ends */
    peer_says(&f, HUB_STR("more\n1\n"));
    settle(&f);
    assert_text(&f.events, "![1]");
    finish(&f);
    free(text);
}

static void test_oversize_without_a_callback_ends(void **state)
{
    (void)state;
    fixture f;
    prepare(&f);
    f.options.on_oversize = NULL;
    f.options.max_message_bytes = 4;
    open_pair(&f, SOCK_STREAM);
    peer_says(&f, HUB_STR("1234\n12345\n1\n"));
    settle(&f);
    assert_text(&f.events, "[1234]<a message is larger than the limit of 4 bytes>");
    peer_says(&f, HUB_STR("1\n"));
    settle(&f);
    assert_text(&f.events, "[1234]<a message is larger than the limit of 4 bytes>");
    finish(&f);
}

static size_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    (void)fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void check_endless(hub_str begin, hub_str end, size_t limit)
{
    enum { TOTAL_MIB = 100 };
    fixture f;
    char *chunk = make_text(MIB, 7);
    prepare(&f);
    f.options.max_message_bytes = limit;
    open_pair(&f, SOCK_STREAM);
    peer_says(&f, begin);
    size_t before = resident_bytes();
    for (int i = 0; i < TOTAL_MIB; i++) {
        peer_says(&f, (hub_str){.ptr = chunk, .len = MIB});
        assert_true(resident_bytes() < before + 4 * limit + 8 * MIB);
    }
    peer_says(&f, end);
    settle(&f);
    assert_text(&f.events, "![{}]");
    finish(&f);
    free(chunk);
}

static void test_an_endless_message_costs_no_memory(void **state)
{
    (void)state;
    check_endless(HUB_STR(""), HUB_STR("\n{}\n"), LIMIT);
    check_endless(HUB_STR(""), HUB_STR("\n{}\n"), 4 * MIB);
    check_endless(HUB_STR("Content-Length: 104857600\r\n\r\n"), HUB_STR("Content-Length: 2\n\n{}"),
                  4 * MIB);
}

/* A file is read in larger pieces than a pipe has: the whole buffer at once. */
static void test_oversize_in_a_file(void **state)
{
    (void)state;
    for (size_t len = 4 * MIB - 1; len <= 20 * MIB; len += 4 * MIB - 64 * 1024 + 1) {
        fixture f;
        char *text = make_text(len, 3);
        int fd = memfd_create("input", MFD_CLOEXEC);
        assert_int_equal(write(fd, text, len), len);
        assert_int_equal(write(fd, "\n{}\n", 4), 4);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        prepare(&f);
        f.options.max_message_bytes = 4 * MIB;
        f.options.read_fd = fd;
        f.options.write_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        open_stream(&f);
        wait_for_end(&f);
        if (len > 4 * MIB) {
            assert_text(&f.events, "![{}]<end of file>");
        } else {
            assert_int_equal(f.messages, 2);
        }
        finish(&f);
        free(text);
    }
}

/* Files, which epoll refuses: read to their end, written in order. */
static void answer(fixture *f, hub_str message)
{
    assert_int_equal(send_text(f, message), HUB_OK);
}

static void test_regular_files(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    fixture f;
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX);
    for (int i = 0; i < COUNT; i++) {
        hub_buf_printf(&text, "{\"number\":%d}\n", i);
    }
    prepare(&f);
    f.options.read_fd = memfd_create("input", MFD_CLOEXEC);
    f.options.write_fd = memfd_create("output", MFD_CLOEXEC);
    f.act = answer;
    assert_int_equal(write(f.options.read_fd, text.ptr, text.len), text.len);
    assert_int_equal(lseek(f.options.read_fd, 0, SEEK_SET), 0);
    int output = dup(f.options.write_fd);
    open_stream(&f);
    wait_for_end(&f);
    assert_int_equal(f.messages, COUNT);
    hub_stream_drain(f.stream, 0);
    char *copy = malloc(text.len);
    assert_int_equal(pread(output, copy, text.len, 0), text.len);
    assert_memory_equal(copy, text.ptr, text.len);
    assert_int_equal(lseek(output, 0, SEEK_END), text.len);
    finish(&f);
    (void)close(output);
    free(copy);
    hub_buf_fini(&text);
}

/* ---- close() from callbacks ------------------------------------------------------------------ */

static void close_now(fixture *f, hub_str message)
{
    (void)message;
    hub_stream_close(f->stream);
    assert_int_equal(send_text(f, HUB_STR("1")), HUB_ESTATE); /* still there until we return */
    hub_stream_drain(f->stream, 1000);
    hub_stream_close(f->stream);
    f->stream = NULL;
}

static void check_close(const char *input, size_t limit, bool at_end, const char *events)
{
    fixture f;
    prepare(&f);
    f.options.max_message_bytes = limit;
    open_pair(&f, SOCK_STREAM);
    f.act = close_now;
    f.act_on_oversize = true;
    f.act_on_end = true;
    peer_says(&f, hub_str_of(input));
    if (at_end) {
        close_peer(&f);
    }
    while (f.stream != NULL) {
        (void)ev_run(f.loop, EVRUN_ONCE);
    }
    settle(&f);
    assert_text(&f.events, events);
    if (!at_end) {
        char byte;
        ssize_t count = read(f.peer, &byte, 1);
        assert_true(count == 0 || (count < 0 && errno != EAGAIN)); /* it is closed */
    }
    finish(&f);
}

static void test_close_in_callbacks(void **state)
{
    (void)state;
    check_close("1\n2\n", 10, false, "[1]");
    check_close("1", 10, true, "[1]"); /* from the last line */
    check_close("12345678901\n2\n", 10, false, "!");
    check_close("12345678901", 10, false, "!");
    check_close("", 10, true, "<end of file>");
    check_close("Content-Length: 1\n\n1Content-Length: 1\n\n1", 10, false, "[1]");
    check_close("Content-Length: 11\n\n1", 10, false, "!");
    check_close("Content-Length: x\n\n", 10, false, "[Content-Length: x\n\n]");
    check_close("Content-Length: 2\n\n1", 10, true, "<end of file in the middle of a message>");
}

static void test_close_at_any_time(void **state)
{
    (void)state;
    hub_stream_close(NULL);
    for (int step = 0; step < 5; step++) {
        fixture f;
        start(&f);
        if (step > 0) {
            assert_int_equal(send_text(&f, HUB_STR("1")), HUB_OK); /* the flusher is active */
        }
        if (step > 1) {
            char *text = make_text(4 * MIB, 1);
            assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 4 * MIB}), HUB_OK);
            free(text);
        }
        if (step > 2) {
            settle(&f); /* the writer is active */
        }
        if (step > 3) {
            close_peer(&f);
            (void)ev_run(f.loop, EVRUN_NOWAIT); /* the end is due */
        }
        finish(&f);
    }
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool is_nonblocking(int fd)
{
    return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

static void test_flags_are_restored(void **state)
{
    (void)state;
    int in[2];
    int out[2];
    fixture f;
    prepare(&f);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    f.options.keep_fds_open = true;
    f.options.read_fd = in[0];
    f.options.write_fd = out[1];
    open_stream(&f);
    assert_true(is_nonblocking(in[0]) && is_nonblocking(out[1]));
    hub_stream_close(f.stream);
    assert_false(is_nonblocking(in[0]) || is_nonblocking(out[1]));
    assert_int_equal(fcntl(out[1], F_SETFL, O_NONBLOCK), 0);
    open_stream(&f);
    hub_stream_close(f.stream);
    assert_true(!is_nonblocking(in[0]) && is_nonblocking(out[1])); /* as it was found */
    f.options.write_fd = -1;
    assert_int_equal(hub_stream_open(f.loop, &f.options, &f.stream), HUB_ESYSTEM);
    assert_false(is_nonblocking(in[0]));
    f.options.keep_fds_open = false;
    assert_int_equal(hub_stream_open(f.loop, &f.options, &f.stream), HUB_ESYSTEM);
    assert_int_equal(fcntl(in[0], F_GETFD), -1); /* owned even when it fails */
    f.stream = NULL;
    finish(&f);
    (void)close(in[1]);
    (void)close(out[0]);
    (void)close(out[1]);
}

static void test_descriptors_are_closed(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    int fd = f.options.read_fd;
    hub_stream_close(f.stream);
    f.stream = NULL;
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    finish(&f);
}

static void test_limits_without_end(void **state)
{
    (void)state;
    fixture f;
    prepare(&f);
    f.options.max_message_bytes = SIZE_MAX;
    f.options.max_queue_bytes = SIZE_MAX;
    open_pair(&f, SOCK_STREAM);
    f.act = answer;
    peer_says(&f, HUB_STR("{}\n[]\n"));
    assert_peer_got(&f, "{}\n[]\n");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_split),
        cmocka_unit_test(test_no_detection),
        cmocka_unit_test(test_oversize),
        cmocka_unit_test(test_oversize_without_a_callback_ends),
        cmocka_unit_test(test_an_endless_message_costs_no_memory),
        cmocka_unit_test(test_oversize_in_a_file),
        cmocka_unit_test(test_regular_files),
        cmocka_unit_test(test_close_in_callbacks),
        cmocka_unit_test(test_close_at_any_time),
        cmocka_unit_test(test_flags_are_restored),
        cmocka_unit_test(test_descriptors_are_closed),
        cmocka_unit_test(test_limits_without_end),
    };
    ignore_sigpipe();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
