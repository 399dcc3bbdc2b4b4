/* SPDX-License-Identifier: Apache-2.0 */
/* WWW-Authenticate, as servers write it: RFC 9110, section 11.6.1; RFC 6750, section 3. */
#include "plugins/upstream/remote/challenge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define META "resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\""

static void test_what_is_read(void **state)
{
    static const struct {
        const char *value;
        int is_bearer;
        int is_oauth;
        const char *error;
        const char *scope;
    } CASES[] = {
        {"Bearer", 1, 0, "", ""},
        {"bEARER  ", 1, 0, "", ""},
        {"Bearer " META, 1, 1, "", ""},
        {"Bearer RESOURCE_METADATA = x", 1, 1, "", ""},
        {"Bearer resource_metadata=\"\"", 1, 0, "", ""},
        {"Bearer realm=\"a, b=\\\"c\\\"\", error=\"invalid_token\"", 1, 0, "invalid_token", ""},
        {"Bearer error=insufficient_scope, scope=\"a b\", " META, 1, 1, "insufficient_scope",
         "a b"},
        {"Basic realm=\"x\", Bearer scope=y", 1, 0, "", "y"},
        {"Negotiate, Bearer scope=y", 1, 0, "", "y"},
        {", ,Bearer ,, scope=y,", 1, 0, "", "y"},
        /* the first one counts, and only its own */
        {"Bearer scope=a, Bearer scope=b", 1, 0, "", "a"},
        {"Bearer scope=a, DPoP scope=b, error=c", 1, 0, "", "a"},
        {"Bearer scope=a, scope=b", 1, 0, "", "a"},
        {"DPoP " META ", scope=b", 0, 0, "", ""},
        {"scope=a, Bearer", 1, 0, "", ""},
        /* for people: one line, no escape sequences */
        {"Bearer scope=\"a\x1b[31m\nb\"", 1, 0, "", "a [31m b"},
        /* malformed: what was read before it stands */
        {"Bearer scope=a, error=\"open", 1, 0, "", "a"},
        {"Bearer scope=a, error=\"open\\", 1, 0, "", "a"},
        {"Bearer scope=", 1, 0, "", ""},
        {"Bearer dG9rZW4=/x, scope=a", 1, 0, "", ""},
        {"Bearer@", 0, 0, "", ""},
        {"=", 0, 0, "", ""},
        {"", 0, 0, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        challenge found = {.is_bearer = 0};
        size_t len = strlen(CASES[i].value);
        char *exact = malloc(len > 0 ? len : 1); /* so that a step too far is seen */
        assert_non_null(exact);
        memcpy(exact, CASES[i].value, len);
        challenge_read(patchbay_str_make(exact, len), &found);
        free(exact);
        print_message("%s\n", CASES[i].value);
        assert_int_equal(found.is_bearer, CASES[i].is_bearer);
        assert_int_equal(found.is_oauth, CASES[i].is_oauth);
        assert_string_equal(found.error, CASES[i].error);
        assert_string_equal(found.scope, CASES[i].scope);
    }
}

static void read_long(const char *name, size_t length, challenge *ret_found)
{
    char line[1024];
    int used = snprintf(line, sizeof line, "Bearer %s=", name);
    memset(line + used, 'x', length);
    *ret_found = (challenge){.is_bearer = 0};
    challenge_read(patchbay_str_make(line, (size_t)used + length), ret_found);
}

static void test_the_edges(void **state)
{
    challenge found;
    (void)state;
    read_long("error", CHALLENGE_ERROR_BYTES - 1, &found);
    assert_int_equal(strlen(found.error), CHALLENGE_ERROR_BYTES - 1);
    read_long("error", CHALLENGE_ERROR_BYTES, &found); /* another one, cut, would be a lie */
    assert_string_equal(found.error, "");
    read_long("error", CHALLENGE_SCOPE_BYTES * 2, &found);
    assert_string_equal(found.error, "");
    read_long("scope", CHALLENGE_SCOPE_BYTES - 1, &found);
    assert_int_equal(strlen(found.scope), CHALLENGE_SCOPE_BYTES - 1);
    read_long("scope", CHALLENGE_SCOPE_BYTES, &found);
    assert_int_equal(strlen(found.scope), CHALLENGE_SCOPE_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
