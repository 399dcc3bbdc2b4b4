/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that fetch a program before they run it (plugins/upstream/common/launcher.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "plugins/upstream/common/upstream.h"

enum { WORDS = 8 };

static void knows_launchers(void **state)
{
    (void)state;
    static const char *const KNOWN[][WORDS] = {
        {"npx", "-y", "server"},
        {"/usr/local/bin/npx", "server"},
        {"npx"},
        {"uvx", "mcp-server-git"},
        {"pipx", "run", "server"},
        {"bunx", "server"},
        {"docker", "run", "-i", "--rm", "image"},
        {"podman", "run", "image"},
        {"deno", "run", "-A", "x.ts"},
        {"uv", "run", "server.py"},
        {"uv", "--directory", "/srv/x", "run", "server.py"},
        {"uv", "tool", "run", "x"},
        {"npm", "exec", "--", "server"},
        {"npm", "x", "server"},
        {"pnpm", "dlx", "server"},
        {"pnpm", "--silent", "dlx", "server"},
        {"yarn", "dlx", "server"},
        {"bun", "x", "server"},
        {"go", "run", "./cmd"},
        {"nix", "run", "nixpkgs#x"},
        {"env", "A=b", "npx", "server"},
        {"/usr/bin/env", "-i", "PATH=/bin", "uvx", "server"},
        {"sh", "-c", "npx -y server"},
        {"bash", "-lc", "exec uvx server"},
        {"bash", "-l", "-c", "A=b  npx server"},
        {"sh", "-c", "env A=b npm exec server"},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        assert_true(upstream_is_launcher(KNOWN[i]));
    }
}

static void knows_what_runs_at_once(void **state)
{
    (void)state;
    static const char *const OTHERS[][WORDS] = {
        {"node", "server.js"},
        {"python3", "-m", "npx"},
        {"/opt/npx/server"},
        {"npx2", "server"},
        {"uv", "pip", "list"},
        {"uv"},
        {"npm", "start"},
        {"yarn", "start"},
        {"env"},
        {"env", "A=b"},
        {"sh"},
        {"sh", "npx"},
        {"sh", "-c"},
        {"sh", "-c", ""},
        {"sh", "-c", "A=b"},
        {"sh", "-c", "cd /x && npx server"}, /* what comes first decides */
        {"sh", "--norc", "script"},
        {""},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_false(upstream_is_launcher(OTHERS[i]));
    }
}

static void looks_at_so_many_words_of_a_line(void **state)
{
    (void)state;
    char line[1024] = "uv";
    const char *const argv[] = {"sh", "-c", line, NULL};
    size_t len = strlen(line);
    for (int i = 0; i < 62; i++) { /* 63 words then */
        len += (size_t)snprintf(line + len, sizeof line - len, " -x");
    }
    (void)snprintf(line + len, sizeof line - len, " run");
    assert_true(upstream_is_launcher(argv));
    (void)snprintf(line + len, sizeof line - len, " -x run");
    assert_false(upstream_is_launcher(argv));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_launchers),
        cmocka_unit_test(knows_what_runs_at_once),
        cmocka_unit_test(looks_at_so_many_words_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
