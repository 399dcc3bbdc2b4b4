/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <signal.h>

#define TAIL_BYTES 4096u /* of stderr, in the text of a failure */
/* The hub takes results of 64 levels; this is what is left inside structuredContent.output. */
#define JSON_DEPTH 60

static patchbay_str captured(const command_capture *capture)
{
    return patchbay_str_make(capture->len > 0 ? capture->bytes : "", capture->len);
}

static int is_utf8(patchbay_str text)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    while (at < end) {
        size_t step = patchbay_utf8_length(at, end);
        if (step == 0) {
            return 0;
        }
        at += step;
    }
    return 1;
}

static const char *find_signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "another signal";
}

/* ---- what it means --------------------------------------------------------------------------- */

/* Why the run is a failure; empty text: it is none. */
typedef struct verdict {
    char text[256];
} verdict;

static int is_ok_code(const command_tool *tool, int code)
{
    for (size_t i = 0; i < tool->ok_count; i++) {
        if (tool->ok_codes[i] == code) {
            return 1;
        }
    }
    return 0;
}

static void judge_json(const command_run *run, verdict *ret)
{
    if (run->out.cut) {
        (void)snprintf(ret->text, sizeof ret->text,
                       "the command's output is not JSON: it was cut after %zu bytes (max_output)",
                       run->out.len);
        return;
    }
    size_t defect = command_json_defect(captured(&run->out), JSON_DEPTH);
    if (defect != SIZE_MAX) {
        (void)snprintf(ret->text, sizeof ret->text,
                       "the command's output is not JSON: it goes wrong at byte %zu of %zu", defect,
                       run->out.len);
    }
}

static verdict judge(const command_tool *tool, const command_run *run)
{
    verdict result = {""};
    if (run->stop == COMMAND_TIMED_OUT) {
        (void)snprintf(result.text, sizeof result.text,
                       "the command was stopped: it took longer than %llu ms",
                       (unsigned long long)tool->timeout_ms);
    } else if (!run->end.known) {
        (void)snprintf(result.text, sizeof result.text, "the command's exit code was lost");
    } else if (run->end.signal_number != 0) {
        (void)snprintf(result.text, sizeof result.text, "the command was killed by %s (%d)",
                       find_signal_name(run->end.signal_number), run->end.signal_number);
    } else if (!is_ok_code(tool, run->end.exit_code)) {
        (void)snprintf(result.text, sizeof result.text, "the command failed with exit code %d",
                       run->end.exit_code);
    } else if (tool->output == COMMAND_OUTPUT_JSON) {
        judge_json(run, &result);
    }
    return result;
}

/* ---- structured content ---------------------------------------------------------------------- */

static void out_lines(patchbay_out *out, patchbay_str text)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    patchbay_out_key(out, "lines");
    patchbay_out_text(out, "[");
    while (at < end) {
        const char *newline = (const char *)memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline != NULL ? newline : end;
        patchbay_out_text(out, at > text.ptr ? "," : "");
        patchbay_out_string(out, patchbay_str_make(at, (size_t)(line_end - at)));
        at = newline != NULL ? newline + 1 : end;
    }
    patchbay_out_text(out, "]");
}

static void out_end(patchbay_out *out, const command_run *run)
{
    patchbay_out_key(out, "exit_code");
    if (run->end.known && run->end.signal_number == 0) {
        patchbay_out_printf(out, "%d", run->end.exit_code);
    } else {
        patchbay_out_text(out, "null");
    }
    if (run->end.known && run->end.signal_number != 0) {
        patchbay_out_key(out, "signal");
        patchbay_out_string(out, patchbay_str_of(find_signal_name(run->end.signal_number)));
    }
    if (run->stop == COMMAND_TIMED_OUT) {
        patchbay_out_text(out, ",\"timed_out\":true");
    }
}

static void out_structured(patchbay_out *out, const command_tool *tool, const command_run *run,
                           int failed)
{
    patchbay_str text = captured(&run->out);
    patchbay_out_text(out, "{");
    out_end(out, run);
    if (tool->output == COMMAND_OUTPUT_JSON && !failed) {
        patchbay_out_key(out, "output");
        patchbay_out_raw(out, text);
    } else if (tool->output == COMMAND_OUTPUT_LINES) {
        out_lines(out, text);
    } else {
        patchbay_out_key(out, "stdout");
        patchbay_out_string(out, text);
    }
    patchbay_out_key(out, "stderr");
    patchbay_out_string(out, captured(&run->err));
    if (!is_utf8(text) || !is_utf8(captured(&run->err))) {
        patchbay_out_text(out, ",\"lossy\":true");
    }
    patchbay_out_printf(out, ",\"duration_ms\":%llu,\"truncated\":%s}",
                        (unsigned long long)run->duration_ms,
                        run->out.cut || run->err.cut ? "true" : "false");
}

/* ---- content --------------------------------------------------------------------------------- */

static void out_block(patchbay_out *out, const char *label, patchbay_str text)
{
    patchbay_out_text(out, out->ptr[out->len - 1] == '[' ? "" : ",");
    patchbay_out_text(out, "{\"type\":\"text\",\"text\":\"");
    patchbay_out_escaped(out, patchbay_str_of(label));
    patchbay_out_escaped(out, text);
    patchbay_out_text(out, "\"}");
}

/* The end of stderr, from a character's beginning. */
static patchbay_str find_tail(const command_capture *capture)
{
    patchbay_str text = captured(capture);
    size_t skipped = text.len > TAIL_BYTES ? text.len - TAIL_BYTES : 0;
    while (skipped > 0 && skipped < text.len && (text.ptr[skipped] & 0xc0) == 0x80) {
        skipped++;
    }
    return patchbay_str_make(text.ptr + skipped, text.len - skipped);
}

static void out_content(patchbay_out *out, const command_run *run, const verdict *failure)
{
    char note[128];
    int failed = failure->text[0] != '\0';
    patchbay_str text = captured(&run->out);
    patchbay_str tail = find_tail(&run->err);
    if (failed) {
        out_block(out, failure->text, patchbay_str_of(tail.len > 0 ? ":\n" : ""));
        out->len -= strlen("\"}"); /* stderr goes into the same block */
        patchbay_out_escaped(out, tail);
        patchbay_out_text(out, "\"}");
    }
    if (text.len > 0 || !failed) {
        out_block(out, "", text);
    }
    if (!failed && tail.len > 0) {
        out_block(out, "[stderr]\n", tail);
    }
    if (run->out.cut) {
        (void)snprintf(note, sizeof note, "[output cut after %zu bytes]", run->out.len);
        out_block(out, note, patchbay_str_of(""));
    }
}

void command_reply(patchbay_tool_call *call, const command_tool *tool, const command_run *run)
{
    verdict failure = judge(tool, run);
    int failed = failure.text[0] != '\0';
    patchbay_out out;
    memset(&out, 0, sizeof out);
    patchbay_out_text(&out, "{\"content\":[");
    if (out.failed) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        return;
    }
    out_content(&out, run, &failure);
    patchbay_out_text(&out, "],\"structuredContent\":");
    out_structured(&out, tool, run, failed);
    patchbay_out_text(&out, failed ? ",\"isError\":true}" : "}");
    if (out.failed) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
    } else {
        patchbay_reply_result(call, patchbay_str_make(out.ptr, out.len));
    }
    patchbay_out_free(&out);
}
