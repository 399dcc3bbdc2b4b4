/* SPDX-License-Identifier: Apache-2.0 */
/* Broken manifests: every one is refused with exactly this text, which names file, line and key.
 * Toolsets and variables; the rest is in test_config_errors.c. */
#include "config_support.h"

typedef struct broken {
    const char *text;
    hub_err code;
    const char *expected;
} broken;

static void refuse_all(const char *name, const broken *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expect_refused(name, hub_str_of(cases[i].text), NULL, cases[i].code, cases[i].expected);
    }
}

static const broken TOOLSETS[] = {
    {"toolsets: []", HUB_EINVAL, "m.yaml:1: toolsets: wanted a map, found a list"},
    {"toolsets:\n  a:\n    tools: {limits: []}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools.limits: wanted a map of names of tools, found a list"},
    {"toolsets:\n  a:\n    tools: {limits: {x: 3}}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools.limits.x: wanted a map, found the number 3"},
    {"toolsets:\n  a:\n    tools: {limits: {x: {}}}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools.limits.x: \"calls_per_second\" is missing: write how many calls "
     "it "
     "may have"},
    {"toolsets:\n  a:\n    tools: {limits: {x: {calls_per_second: 0}}}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools.limits.x.calls_per_second: wanted 1 to 1000000, found "
     "the number 0"},
    {"toolsets:\n  a: uvx", HUB_EINVAL, "m.yaml:2: toolsets.a: wanted a map, found \"uvx\""},
    {"toolsets:\n  a: [uvx]", HUB_EINVAL, "m.yaml:2: toolsets.a: wanted a map, found a list"},
    {"toolsets:\n  _meta:\n    module: x", HUB_EINVAL,
     "m.yaml:2: toolsets._meta: \"_meta\" is reserved for the hub's meta-tools"},
    {"toolsets:\n  _META:", HUB_EINVAL,
     "m.yaml:2: toolsets._META: \"_meta\" is reserved for the hub's meta-tools"},
    {"toolsets:\n  a__b:", HUB_EINVAL,
     "m.yaml:2: toolsets.a__b: a toolset's key cannot contain \"__\", which separates it from a "
     "tool"},
    {"toolsets:\n  Git:", HUB_EINVAL,
     "m.yaml:2: toolsets.Git: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  1git:", HUB_EINVAL,
     "m.yaml:2: toolsets.1git: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  -a:", HUB_EINVAL,
     "m.yaml:2: toolsets.-a: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  \"\":", HUB_EINVAL,
     "m.yaml:2: toolsets.: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  a.b:", HUB_EINVAL,
     "m.yaml:2: toolsets.a.b: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:", HUB_EINVAL,
     "m.yaml:2: toolsets.kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...: a "
     "toolset's key is a lower-case letter, then lower-case letters, digits, \"-\" and \"_\", at "
     "most 64 in all"},
    {"toolsets:\n  g\xc3\xa4:", HUB_EINVAL,
     "m.yaml:2: toolsets.g\xc3\xa4: a toolset's key is a lower-case letter, then lower-case "
     "letters, digits, \"-\" and \"_\", at most 64 in all"},
    {"toolsets:\n  a:\n    module: 5", HUB_EINVAL,
     "m.yaml:3: toolsets.a.module: wanted text, found the number 5"},
    {"toolsets:\n  a:\n    module: \"\"", HUB_EINVAL,
     "m.yaml:3: toolsets.a.module: wanted text, found \"\""},
    {"toolsets:\n  a:\n    config: [1]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.config: wanted a map, found a list"},
    {"toolsets:\n  a:\n    config: text", HUB_EINVAL,
     "m.yaml:3: toolsets.a.config: wanted a map, found text"},
    {"toolsets:\n  a:\n    module: x\n    command: y", HUB_EINVAL,
     "m.yaml:3: toolsets.a.module: a toolset is either a plugin or a server: this one also has "
     "\"command\""},
    {"toolsets:\n  a:\n    config: {}\n    url: http://x", HUB_EINVAL,
     "m.yaml:3: toolsets.a.config: a toolset is either a plugin or a server: this one also has "
     "\"url\""},
    {"toolsets:\n  a:\n    module: mcp_upstream\n    env: {A: b}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.module: a toolset is either a plugin or a server: this one also has "
     "\"env\""},
    {"toolsets:\n  a:\n    args: [x]", HUB_EINVAL,
     "m.yaml:2: toolsets.a: a server wants a \"command\" or a \"url\""},
    {"toolsets:\n  a:\n    env: {A: b}", HUB_EINVAL,
     "m.yaml:2: toolsets.a: a server wants a \"command\" or a \"url\""},
    {"toolsets:\n  a:\n    command: x\n    url: http://x", HUB_EINVAL,
     "m.yaml:4: toolsets.a.url: a server has either a \"command\" or a \"url\""},
    {"toolsets:\n  a:\n    command: [x]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: wanted text, found a list"},
    {"toolsets:\n  a:\n    command: \"\"", HUB_EINVAL, "m.yaml:3: toolsets.a.command: is empty"},
    {"toolsets:\n  a:\n    command: 5", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: wanted text, found a number"},
    {"toolsets:\n  a:\n    command: x\n    args: y", HUB_EINVAL,
     "m.yaml:4: toolsets.a.args: wanted a list, found text"},
    {"toolsets:\n  a:\n    command: x\n    args: [y, [z]]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.args[1]: wanted text, found a list"},
    {"toolsets:\n  a:\n    command: x\n    args:\n      - y\n      - {z: 1}", HUB_EINVAL,
     "m.yaml:6: toolsets.a.args[1]: wanted text, found a map"},
    {"toolsets:\n  a:\n    command: x\n    args: [~]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.args[0]: wanted text, found nothing"},
    {"toolsets:\n  a:\n    command: x\n    args:", HUB_EINVAL,
     "m.yaml:4: toolsets.a.args: wanted a list, found nothing"},
    {"toolsets:\n  a:\n    command: x\n    env: [A=b]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.env: wanted a map, found a list"},
    {"toolsets:\n  a:\n    command: x\n    env: {A: [b]}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.env.A: wanted text, found a list"},
    {"toolsets:\n  a:\n    command: x\n    env:\n      A:", HUB_EINVAL,
     "m.yaml:5: toolsets.a.env.A: wanted text, found nothing"},
    {"toolsets:\n  a:\n    command: x\n    env: {\"A=B\": c}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.env.A=B: not the name of a variable"},
    {"toolsets:\n  a:\n    command: x\n    env: {\"\": c}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.env.: not the name of a variable"},
    {"toolsets:\n  a:\n    command: x\n    cwd: 5", HUB_EINVAL,
     "m.yaml:4: toolsets.a.cwd: wanted text, found a number"},
    {"toolsets:\n  a:\n    command: x\n    cwd: \"\"", HUB_EINVAL,
     "m.yaml:4: toolsets.a.cwd: is empty"},
    {"toolsets:\n  a:\n    command: x\n    cwd: ~/w", HUB_EINVAL,
     "m.yaml:4: toolsets.a.cwd: \"~\" has no meaning here: write ${HOME}"},
    {"toolsets:\n  a:\n    url: []", HUB_EINVAL,
     "m.yaml:3: toolsets.a.url: wanted text, found a list"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: text", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers: wanted a map, found text"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: {\"A B\": c}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers.A B: not the name of a header"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: {\"\": c}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers.: not the name of a header"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: {A: [b]}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers.A: wanted text, found a list"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: {A: \"b\\nC: d\"}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers.A: a header cannot hold a line break"},
    {"toolsets:\n  a:\n    url: http://x\n    headers: {A: \"b\\rC: d\"}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers.A: a header cannot hold a line break"},
    {"toolsets:\n  a:\n    url: http://x\n    type: stdio", HUB_EINVAL,
     "m.yaml:4: toolsets.a.type: this type wants a \"command\""},
    {"toolsets:\n  a:\n    command: x\n    type: http", HUB_EINVAL,
     "m.yaml:4: toolsets.a.type: this type wants a \"url\""},
    {"toolsets:\n  a:\n    command: x\n    type: stdoi", HUB_EINVAL,
     "m.yaml:4: toolsets.a.type: wanted one of \"stdio\", \"http\", \"sse\", \"websocket\", found "
     "\"stdoi\"; did you mean \"stdio\"?"},
    {"toolsets:\n  a:\n    command: x\n    type: 5", HUB_EINVAL,
     "m.yaml:4: toolsets.a.type: wanted one of \"stdio\", \"http\", \"sse\", \"websocket\", found "
     "the number 5"},
    {"toolsets:\n  a:\n    url: http://x\n    connect_timeout: 11m", HUB_EINVAL,
     "m.yaml:4: toolsets.a.connect_timeout: wanted 1ms to 10m, found \"11m\""},
    {"toolsets:\n  a:\n    url: http://x\n    protocol: 2020-01-01", HUB_EINVAL,
     "m.yaml:4: toolsets.a.protocol: wanted one of \"2024-11-05\", \"2025-03-26\", "
     "\"2025-06-18\", \"2025-11-25\", \"2026-07-28\", found \"2020-01-01\"; did you mean "
     "\"2024-11-05\"?"},
    {"toolsets:\n  a:\n    url: http://x\n    forward_headers: [A, Mcp-Name]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.forward_headers[1]: the hub itself says \"Mcp-Name\" to the server: it "
     "cannot be forwarded"},
    {"toolsets:\n  a:\n    url: http://x\n    forward_headers: [a b]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.forward_headers[0]: wanted the name of a header, found \"a b\""},
    {"toolsets:\n  a:\n    url: http://x\n    forward_headers: [\"X-*\"]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.forward_headers[0]: \"X-*\" is not a pattern: each header is named"},
    {"toolsets:\n  a:\n    command: x\n    forward_headers: [a]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.forward_headers: wants a \"url\""},
    {"toolsets:\n  a:\n    url: http://x\n    key: a.pem", HUB_EINVAL,
     "m.yaml:2: toolsets.a: a \"certificate\" and a \"key\" come together"},
    {"toolsets:\n  a:\n    url: http://x\n    ca: ~/a.pem", HUB_EINVAL,
     "m.yaml:4: toolsets.a.ca: \"~\" has no meaning here: write ${HOME}"},
    {"toolsets:\n  a:\n    url: http://x\n    cwd: y", HUB_EINVAL,
     "m.yaml:4: toolsets.a.cwd: wants a \"command\""},
    {"toolsets:\n  a:\n    command: x\n    headers: {A: b}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.headers: wants a \"url\""},
    {"toolsets:\n  a:\n    ca: x", HUB_EINVAL,
     "m.yaml:2: toolsets.a: a server wants a \"command\" or a \"url\""},
    {"toolsets:\n  a:\n    command: x\n    inherit_env: 1", HUB_EINVAL,
     "m.yaml:4: toolsets.a.inherit_env: wanted true or false, found the number 1"},
    {"toolsets:\n  a:\n    command: x\n    startup_timeout: 5", HUB_EINVAL,
     "m.yaml:4: toolsets.a.startup_timeout: write the unit: \"5s\" or \"5ms\""},
    {"toolsets:\n  a:\n    command: x\n    startup_timeout: 2h", HUB_EINVAL,
     "m.yaml:4: toolsets.a.startup_timeout: wanted 1ms to 1h, found \"2h\""},
    {"toolsets:\n  a:\n    command: x\n    startup_timeout: 0s", HUB_EINVAL,
     "m.yaml:4: toolsets.a.startup_timeout: wanted 1ms to 1h, found \"0s\""},
    {"toolsets:\n  a:\n    command: x\n    restart_delay: 0s", HUB_EINVAL,
     "m.yaml:4: toolsets.a.restart_delay: wanted 1ms to 1h, found \"0s\""},
    {"toolsets:\n  a:\n    command: x\n    restart_delay: 61m", HUB_EINVAL,
     "m.yaml:4: toolsets.a.restart_delay: wanted 1ms to 1h, found \"61m\""},
    {"toolsets:\n  a:\n    command: x\n    restart_delay_max: 3600001ms", HUB_EINVAL,
     "m.yaml:4: toolsets.a.restart_delay_max: wanted 1ms to 1h, found \"3600001ms\""},
    {"toolsets:\n  a:\n    command: x\n    restart_reset: 86400001ms", HUB_EINVAL,
     "m.yaml:4: toolsets.a.restart_reset: wanted 1ms to 24h, found \"86400001ms\""},
    {"toolsets:\n  a:\n    command: x\n    health_interval: 3600001ms", HUB_EINVAL,
     "m.yaml:4: toolsets.a.health_interval: wanted 0ms to 1h, found \"3600001ms\""},
    {"toolsets:\n  a:\n    command: x\n    idle_timeout: 86400001ms", HUB_EINVAL,
     "m.yaml:4: toolsets.a.idle_timeout: wanted 0ms to 24h, found \"86400001ms\""},
    {"toolsets:\n  a:\n    module: x\n    idle_timeout: 1s", HUB_EINVAL,
     "m.yaml:3: toolsets.a.module: a toolset is either a plugin or a server: this one also has "
     "\"idle_timeout\""},
    {"toolsets:\n  a:\n    enabled: no", HUB_EINVAL,
     "m.yaml:3: toolsets.a.enabled: wanted true or false, found \"no\""},
    {"toolsets:\n  a:\n    disabled: 0", HUB_EINVAL,
     "m.yaml:3: toolsets.a.disabled: wanted true or false, found the number 0"},
    {"toolsets:\n  a:\n    enabled: true\n    disabled: true", HUB_EINVAL,
     "m.yaml:4: toolsets.a.disabled: contradicts \"enabled\""},
    {"toolsets:\n  a:\n    active: maybe", HUB_EINVAL,
     "m.yaml:3: toolsets.a.active: wanted true or false, found \"maybe\""},
    {"toolsets:\n  a:\n    lazy: 1", HUB_EINVAL,
     "m.yaml:3: toolsets.a.lazy: wanted true or false, found the number 1"},
    {"toolsets:\n  a:\n    sharing: sesion", HUB_EINVAL,
     "m.yaml:3: toolsets.a.sharing: wanted one of \"shared\", \"session\", found \"sesion\"; did "
     "you mean \"session\"?"},
    {"toolsets:\n  a:\n    sharing: true", HUB_EINVAL,
     "m.yaml:3: toolsets.a.sharing: wanted one of \"shared\", \"session\", found true"},
    {"toolsets:\n  a:\n    timeout: 30", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: write the unit: \"30s\" or \"30ms\""},
    {"toolsets:\n  a:\n    timeout: 30 seconds", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", \"1h\", "
     "found \"30 seconds\""},
    {"toolsets:\n  a:\n    timeout: 1m30s", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", \"1h\", "
     "found \"1m30s\""},
    {"toolsets:\n  a:\n    timeout: 25h", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: wanted 1ms to 24h, found \"25h\""},
    {"toolsets:\n  a:\n    timeout: -1s", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", \"1h\", "
     "found \"-1s\""},
    {"toolsets:\n  a:\n    timeout: [1s]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", \"1h\", "
     "found a list"},
    {"toolsets:\n  a:\n    max_calls: many", HUB_EINVAL,
     "m.yaml:3: toolsets.a.max_calls: wanted a whole number, found \"many\""},
    {"toolsets:\n  a:\n    max_calls: 65537", HUB_EINVAL,
     "m.yaml:3: toolsets.a.max_calls: wanted 0 to 65536, found the number 65537"},
    {"toolsets:\n  a:\n    queue: 65537", HUB_EINVAL,
     "m.yaml:3: toolsets.a.queue: wanted 0 to 65536, found the number 65537"},
    {"toolsets:\n  a:\n    queue_timeout: 0s", HUB_EINVAL,
     "m.yaml:3: toolsets.a.queue_timeout: wanted 1ms to 24h, found \"0s\""},
    {"toolsets:\n  a:\n    middleware: {max_result_bytes: 1023}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.middleware.max_result_bytes: wanted 0, or 1KiB to 1GiB, found the "
     "number "
     "1023"},
    {"toolsets:\n  a:\n    middleware: {log: 1}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.middleware.log: wanted true or false, found the number 1"},
    {"toolsets:\n  a:\n    middleware: [log]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.middleware: wanted a map, found a list"},
    {"toolsets:\n  a:\n    tools: [x]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools: wanted a map, found a list"},
    {"toolsets:\n  a:\n    tools: {allow: x}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tools.allow: wanted a list, found \"x\""},
    {"toolsets:\n  a:\n    tools:\n      deny: [x, \"\"]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.tools.deny[1]: wanted a name, found \"\""},
    {"toolsets:\n  a:\n    tags: one", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tags: wanted a list, found \"one\""},
    {"toolsets:\n  a:\n    tags: [1]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.tags[0]: wanted a name, found the number 1"},
    {"toolsets:\n  a:\n    category: [x]", HUB_EINVAL,
     "m.yaml:3: toolsets.a.category: wanted text, found a list"},
    {"toolsets:\n  a:\n    description: 5", HUB_EINVAL,
     "m.yaml:3: toolsets.a.description: wanted text, found the number 5"},
};

static const broken VARIABLES[] = {
    {"toolsets:\n  a:\n    command: ${NOPE}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: the variable NOPE is not set, and there is no default"},
    {"toolsets:\n  a:\n    command: x\n    args: [a, \"b${NOPE}c\"]", HUB_EINVAL,
     "m.yaml:4: toolsets.a.args[1]: the variable NOPE is not set, and there is no default"},
    {"toolsets:\n  a:\n    command: x\n    env:\n      TOKEN: ${NOPE}", HUB_EINVAL,
     "m.yaml:5: toolsets.a.env.TOKEN: the variable NOPE is not set, and there is no default"},
    {"toolsets:\n  a:\n    command: x\n    cwd: ${env:NOPE}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.cwd: the variable NOPE is not set, and there is no default"},
    {"toolsets:\n  a:\n    url: ${NOPE}/x", HUB_EINVAL,
     "m.yaml:3: toolsets.a.url: the variable NOPE is not set, and there is no default"},
    {"toolsets:\n  a:\n    url: ${NOPE:-}", HUB_EINVAL, "m.yaml:3: toolsets.a.url: is empty"},
    {"toolsets:\n  a:\n    url: http://x\n    headers:\n      Authorization: Bearer ${NOPE}",
     HUB_EINVAL,
     "m.yaml:5: toolsets.a.headers.Authorization: the variable NOPE is not set, and there is no "
     "default"},
    {"toolsets:\n  a:\n    config:\n      deep:\n        - list: [\"${NOPE}\"]", HUB_EINVAL,
     "m.yaml:5: toolsets.a.config.deep[0].list[0]: the variable NOPE is not set, and there is no "
     "default"},
    {"toolsets:\n  a:\n    command: \"${\"", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: a \"${\" has no \"}\"; write $$ for a dollar"},
    {"toolsets:\n  a:\n    command: \"${}\"", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: ${} is not a variable; known are ${VAR}, ${VAR:-default}, "
     "${env:VAR}, ${file:/path}, ${secret:NAME} and ${credential:NAME}"},
    {"toolsets:\n  a:\n    command: ${A:-${B}}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: variables cannot be nested"},
    {"toolsets:\n  a:\n    command: ${input:token}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: ${input:token} is not a variable; known are ${VAR}, "
     "${VAR:-default}, ${env:VAR}, ${file:/path}, ${secret:NAME} and ${credential:NAME}"},
    {"toolsets:\n  a:\n    command: ${file:/etc/hostname}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: ${file:...} is not possible here"},
    {"toolsets:\n  a:\n    command: ${file:secret}", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: ${file:...} wants an absolute path"},
    {"toolsets:\n  a:\n    command: \"${A B}\"", HUB_EINVAL,
     "m.yaml:3: toolsets.a.command: ${A B} is not a variable; known are ${VAR}, ${VAR:-default}, "
     "${env:VAR}, ${file:/path}, ${secret:NAME} and ${credential:NAME}"},
};

static void test_toolsets(void **state)
{
    (void)state;
    refuse_all("m.yaml", TOOLSETS, COUNT(TOOLSETS));
}

static void test_variables(void **state)
{
    (void)state;
    refuse_all("m.yaml", VARIABLES, COUNT(VARIABLES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toolsets),
        cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
