/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: one pass, no nesting, no shell; and no message that tells a secret. */
#include "config_support.h"

#include "config/expand.h"

#include <sys/stat.h>
#include <unistd.h>

#define SECRET "s3cr3t"

static const char *const VARIABLES[] = {
    "A=alpha",
    "EMPTY=",
    "_x9=under",
    "DOLLAR=${A}$$$A",
    "A=second",
    "TOKEN=" SECRET,
    "LATIN=" SECRET "\xe4",
    "NOVALUE",
    "a=lower",
    "env=e",
    "file=f",
    "=odd",
    "LINES=a\nb",
    NULL,
};

static const hub_expand_source SOURCE = {.env = VARIABLES, .has_files = true};

static hub_err expand(const char *text, char *result, size_t size, hub_error *error)
{
    hub_buf out;
    hub_buf_init(&out, 1024 * 1024);
    hub_err err = hub_expand(hub_str_of(text), &SOURCE, &out, NULL, error);
    (void)snprintf(result, size, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&out)));
    hub_buf_fini(&out);
    return err;
}

static void test_expanded(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"", ""},
        {"plain", "plain"},
        {"${A}", "alpha"},
        {"x${A}y${A}z", "xalphayalphaz"},
        {"${_x9}", "under"},
        {"${a}", "lower"},
        {"${EMPTY}", ""},
        {"${env:A}", "alpha"},
        {"${env:env}", "e"},
        {"${env}", "e"},
        {"${file}", "f"},
        {"${env:-x}", "e"},
        {"${A:-def}", "alpha"},
        {"${NOPE:-def}", "def"},
        {"${NOPE:-}", ""},
        {"${EMPTY:-def}", "def"},
        {"${NOPE:-a b:-c}", "a b:-c"},
        {"${NOPE:-$x}", "$x"},
        {"${NOPE:-$$}", "$$"},
        {"${NOPE:-file:/etc/passwd}", "file:/etc/passwd"},
        {"${NOPE:-x}}", "x}"},
        /* dollars */
        {"$$", "$"},
        {"$$$$", "$$"},
        {"$$$", "$$"},
        {"$", "$"},
        {"a$", "a$"},
        {"$A", "$A"},
        {"$A$", "$A$"},
        {"$${A}", "${A}"},
        {"$$${A}", "$alpha"},
        {"$$$${A}", "$${A}"},
        {"$(rm -rf /)", "$(rm -rf /)"},
        {"`id`;|&", "`id`;|&"},
        {"~/x", "~/x"},
        {"%{A} {A} #{A}", "%{A} {A} #{A}"},
        {"}", "}"},
        {"$ {A}", "$ {A}"},
        {"$\\{A}", "$\\{A}"},
        /* what came in is not looked at again */
        {"${DOLLAR}", "${A}$$$A"},
        {"${NOPE:-$}{A}", "${A}"},
        {"$${NOPE:-${A}", "${NOPE:-alpha"},
        {"${LINES}", "a\nb"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char result[256];
        hub_error error = {.text = ""};
        hub_err err = expand(CASES[i].text, result, sizeof result, &error);
        assert_string_equal(error.text, "");
        assert_int_equal(err, HUB_OK);
        assert_string_equal(result, CASES[i].expected);
    }
}

#define UNSET(name) "the variable " name " is not set, and there is no default"
#define FORMS                                                                                      \
    "; known are ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:/path}, ${secret:NAME} and "          \
    "${credential:NAME}"

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"${NOPE}", UNSET("NOPE")},
        {"${env:NOPE}", UNSET("NOPE")},
        {"${NOVALUE}", UNSET("NOVALUE")},
        {"x${TOKEN}${NOPE}", UNSET("NOPE")},
        {"${", "a \"${\" has no \"}\"; write $$ for a dollar"},
        {"${A", "a \"${\" has no \"}\"; write $$ for a dollar"},
        {"${TOKEN} ${A", "a \"${\" has no \"}\"; write $$ for a dollar"},
        {"${}", "${} is not a variable" FORMS},
        {"${ A}", "${ A} is not a variable" FORMS},
        {"${A }", "${A } is not a variable" FORMS},
        {"${1A}", "${1A} is not a variable" FORMS},
        {"${A-B}", "${A-B} is not a variable" FORMS},
        {"${A:B}", "${A:B} is not a variable" FORMS},
        {"${A:+B}", "${A:+B} is not a variable" FORMS},
        {"${A:}", "${A:} is not a variable" FORMS},
        {"${#A}", "${#A} is not a variable" FORMS},
        {"${!A}", "${!A} is not a variable" FORMS},
        {"${A/x/y}", "${A/x/y} is not a variable" FORMS},
        {"${cmd:id}", "${cmd:id} is not a variable" FORMS},
        {"${input:token}", "${input:token} is not a variable" FORMS},
        {"${env:}", "${} is not a variable" FORMS},
        {"${env:A B}", "${A B} is not a variable" FORMS},
        {"${ENV:A}", "${ENV:A} is not a variable" FORMS},
        /* a default may be a secret */
        {"${A B:-" SECRET "}", "not a variable" FORMS},
        {"${:-" SECRET "}", "not a variable" FORMS},
        {"${env:NOPE:-" SECRET "}", "not a variable" FORMS},
        {"${AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+}",
         "not a variable" FORMS},
        /* nesting */
        {"${A:-${A}}", "variables cannot be nested"},
        {"${${A}}", "variables cannot be nested"},
        {"${NOPE:-" SECRET "${A}}", "variables cannot be nested"},
        {"${env:${A}}", "variables cannot be nested"},
        {"${file:/x/${A}}", "variables cannot be nested"},
        /* what JSON cannot say */
        {"${LATIN}", "the variable LATIN does not hold UTF-8 text"},
        {"${LATIN:-x}", "the variable LATIN does not hold UTF-8 text"},
        /* files */
        {"${file:}", "${file:...} wants an absolute path"},
        {"${file:x}", "${file:...} wants an absolute path"},
        {"${file:./x}", "${file:...} wants an absolute path"},
        {"${file:~/x}", "${file:...} wants an absolute path"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char result[256];
        hub_error error = {.text = ""};
        assert_int_equal(expand(CASES[i].text, result, sizeof result, &error), HUB_EINVAL);
        assert_string_equal(error.text, CASES[i].expected);
        assert_null(strstr(error.text, SECRET));
    }
}

static char folder[] = "/tmp/patchbay-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Write a file, expand "${file:…}" of it, remove it again. */
static hub_err expand_file(const char *content, size_t len, mode_t mode, hub_buf *out,
                           bool *open_file, hub_error *error)
{
    char path[128];
    char text[160];
    (void)snprintf(path, sizeof path, "%s/secret", folder);
    (void)snprintf(text, sizeof text, "<${file:%s}>", path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    hub_buf_init(out, 1024 * 1024);
    hub_err err = hub_expand(hub_str_of(text), &SOURCE, out, open_file, error);
    assert_int_equal(unlink(path), 0);
    return err;
}

static void test_files(void **state)
{
    static const struct {
        const char *content;
        const char *expected;
    } CASES[] = {
        {"", "<>"},         {"\n", "<>"},           {SECRET, "<" SECRET ">"},
        {"a\n", "<a>"},     {"a\n\n", "<a\n>"},     {"a\r\n", "<a\r>"},
        {" a \n", "< a >"}, {"${A}$$", "<${A}$$>"}, {"\xc3\xa4", "<\xc3\xa4>"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_buf out;
        hub_error error = {.text = ""};
        bool open_file = false;
        assert_int_equal(
            expand_file(CASES[i].content, strlen(CASES[i].content), 0600, &out, &open_file, &error),
            HUB_OK);
        assert_false(open_file);
        assert_true(hub_str_is(hub_buf_str(&out), CASES[i].expected));
        hub_buf_fini(&out);
    }
}

static void test_files_refused(void **state)
{
    static const struct {
        const char *content;
        size_t len;
        const char *expected;
    } CASES[] = {
        {SECRET "\0x", sizeof SECRET + 1, "the file %s/secret holds a NUL character"},
        {SECRET "\xff", sizeof SECRET, "the file %s/secret does not hold UTF-8 text"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_buf out;
        hub_error error = {.text = ""};
        char expected[256];
        (void)snprintf(expected, sizeof expected, "the file %s/secret%s", folder,
                       strstr(CASES[i].expected, "secret") + sizeof "secret" - 1);
        assert_int_equal(expand_file(CASES[i].content, CASES[i].len, 0600, &out, NULL, &error),
                         HUB_EINVAL);
        assert_string_equal(error.text, expected);
        hub_buf_fini(&out);
    }
}

static void test_file_size(void **state)
{
    (void)state;
    char *content = malloc(HUB_EXPAND_FILE_BYTES + 1);
    assert_non_null(content);
    memset(content, 'x', HUB_EXPAND_FILE_BYTES + 1);
    for (size_t extra = 0; extra <= 1; extra++) {
        hub_buf out;
        hub_error error = {.text = ""};
        hub_err err = expand_file(content, HUB_EXPAND_FILE_BYTES + extra, 0600, &out, NULL, &error);
        assert_int_equal(err, extra == 0 ? HUB_OK : HUB_ELIMIT);
        assert_int_equal(out.len, extra == 0 ? HUB_EXPAND_FILE_BYTES + 2 : 1);
        assert_true(extra == 0 || strstr(error.text, "secret: longer than 65536 bytes") != NULL);
        hub_buf_fini(&out);
    }
    free(content);
}

static void test_open_file(void **state)
{
    (void)state;
    hub_buf out;
    hub_error error = {.text = ""};
    bool open_file = false;
    assert_int_equal(expand_file("x", 1, 0644, &out, &open_file, &error), HUB_OK);
    assert_true(open_file);
    hub_buf_fini(&out);
}

static void test_no_file(void **state)
{
    (void)state;
    char result[64];
    hub_error error = {.text = ""};
    assert_int_equal(expand("${file:/nonexistent/x}", result, sizeof result, &error),
                     HUB_ENOTFOUND);
    assert_string_equal(error.text, "/nonexistent/x: No such file or directory");
    assert_int_equal(expand("${file:/}", result, sizeof result, &error), HUB_ESYSTEM);
    assert_string_equal(error.text, "/: Is a directory");
}

static void test_without_files_or_variables(void **state)
{
    (void)state;
    const hub_expand_source nothing = {.env = NULL};
    hub_buf out;
    hub_buf_init(&out, 64);
    hub_error error = {.text = ""};
    assert_int_equal(hub_expand(HUB_STR("${file:/etc/passwd}"), &nothing, &out, NULL, &error),
                     HUB_EINVAL);
    assert_string_equal(error.text, "${file:...} is not possible here");
    assert_int_equal(hub_expand(HUB_STR("${A}"), &nothing, &out, NULL, NULL), HUB_EINVAL);
    assert_int_equal(hub_expand(HUB_STR("${A:-b}"), &nothing, &out, NULL, NULL), HUB_OK);
    assert_true(hub_str_is(hub_buf_str(&out), "b"));
    hub_buf_fini(&out);
}

/* Silent replacement would make a wrong secret of a value: what is not UTF-8 is refused. */
static void test_utf8(void **state)
{
    static const struct {
        const char *value;
        bool good;
    } CASES[] = {
        {"\x7f", true},
        {"\xc2\x80", true},
        {"\xdf\xbf", true},
        {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbf", true},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\x80", false},
        {"\xbf", false},
        {"\xc0\x80", false},
        {"\xc1\xbf", false},
        {"\xc2", false},
        {"\xc2\x41", false},
        {"\xe0\x9f\xbf", false},
        {"\xe2\x82", false},
        {"\xed\xa0\x80", false},
        {"\xed\xbf\xbf", false},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xf4\x90\x80\x80", false},
        {"\xf5\x80\x80\x80", false},
        {"\xf0\x9f\x98", false},
        {"\xff", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char variable[32];
        (void)snprintf(variable, sizeof variable, "V=a%sb", CASES[i].value);
        const char *const env[] = {variable, NULL};
        const hub_expand_source source = {.env = env};
        hub_buf out;
        hub_buf_init(&out, 64);
        assert_int_equal(hub_expand(HUB_STR("${V}"), &source, &out, NULL, NULL),
                         CASES[i].good ? HUB_OK : HUB_EINVAL);
        hub_buf_fini(&out);
    }
}

static void test_full_buffer(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 6);
    hub_error error = {.text = ""};
    assert_int_equal(hub_expand(HUB_STR("${A}x"), &SOURCE, &out, NULL, &error), HUB_OK);
    hub_buf_clear(&out);
    assert_int_equal(hub_expand(HUB_STR("${A}xy"), &SOURCE, &out, NULL, &error), HUB_ELIMIT);
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expanded),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_files),     cmocka_unit_test(test_files_refused),
        cmocka_unit_test(test_file_size), cmocka_unit_test(test_open_file),
        cmocka_unit_test(test_no_file),   cmocka_unit_test(test_without_files_or_variables),
        cmocka_unit_test(test_utf8),      cmocka_unit_test(test_full_buffer),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
