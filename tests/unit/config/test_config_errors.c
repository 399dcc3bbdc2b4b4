/* SPDX-License-Identifier: Apache-2.0 */
/* Broken manifests: every one is refused with exactly this text, which names file, line and key
 * (S5.6, S5.7). */
#include "config_support.h"

#include "base/limits.h"

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

static const broken NOT_YAML[] = {
    {"hub: [", HUB_EPARSE, "m.yaml:2: not valid YAML: did not find expected node content"},
    {"hub: {name: x\n", HUB_EPARSE, "m.yaml:2: not valid YAML: did not find expected ',' or '}'"},
    {"a: b: c", HUB_EPARSE,
     "m.yaml:1: not valid YAML: mapping values are not allowed in this context: indent the line "
     "like its "
     "neighbours, and quote a text with \": \" in it"},
    {"toolsets:\n  a: {module: x}\n   b: {module: y}", HUB_EPARSE,
     "m.yaml:3: not valid YAML: did not find expected key: indent the line like its neighbours"},
    {"hub:\n  name: \"x\" y", HUB_EPARSE,
     "m.yaml:2: not valid YAML: did not find expected key: put all of the value in quotes"},
    {"hub:\n  name: a\n  nonsense\nlog:", HUB_EPARSE,
     "m.yaml:4: not valid YAML: could not find expected ':': wanted KEY: VALUE"},
    {"# \xc3\xa4\nhub:\n  name: @x", HUB_EPARSE,
     "m.yaml:3: not valid YAML: found character that cannot start any token: put the value in "
     "quotes"},
    {"hub:\n\tname: x", HUB_EPARSE,
     "m.yaml:2: not valid YAML: found character that cannot start any token: it is a tab: "
     "indent with spaces"},
    {"hub: \"x", HUB_EPARSE, "m.yaml:1: not valid YAML: found unexpected end of stream"},
    {"hub: 'x\n\n", HUB_EPARSE, "m.yaml:3: not valid YAML: found unexpected end of stream"},
    {"hub: |x\n  a", HUB_EPARSE,
     "m.yaml:1: not valid YAML: did not find expected comment or line break"},
    {"hub: \x01", HUB_EPARSE, "m.yaml:1: not valid YAML: control characters are not allowed"},
    {"hub:\n  name: \xff\xfe", HUB_EPARSE, "m.yaml:2: not valid YAML: invalid leading UTF-8 octet"},
    {"%YAML 3.0\n---\nhub:", HUB_EPARSE,
     "m.yaml:1: not valid YAML: found incompatible YAML document"},
    {"- a\n- b", HUB_EINVAL, "m.yaml:1: wanted a map, found a list"},
    {"just text", HUB_EINVAL, "m.yaml:1: wanted a map, found \"just text\""},
    {"5", HUB_EINVAL, "m.yaml:1: wanted a map, found the number 5"},
    {"hub:\n---\nlog:", HUB_EINVAL, "m.yaml:2: a second document begins; only one is allowed"},
    {"hub: &a {name: x}\nlog: *a", HUB_EINVAL,
     "m.yaml:2: aliases are not supported: write the value out"},
    {"hub: !mine {name: x}", HUB_EINVAL, "m.yaml:1: tags are not supported (but !!str)"},
    {"hub: !!map {name: x}", HUB_EINVAL, "m.yaml:1: tags are not supported (but !!str)"},
    {"hub: {name: !!int 5}", HUB_EINVAL, "m.yaml:1: tags are not supported (but !!str)"},
    {"hub: {name: !!binary aGk=}", HUB_EINVAL, "m.yaml:1: tags are not supported (but !!str)"},
    {"modules: {paths: !!seq [a]}", HUB_EINVAL, "m.yaml:1: tags are not supported (but !!str)"},
    {"? [a]\n: b", HUB_EINVAL, "m.yaml:1: a key must be a plain word or text"},
    {"? {a: b}\n: c", HUB_EINVAL, "m.yaml:1: a key must be a plain word or text"},
    {"hub:\n  name: \"a\\0b\"", HUB_EINVAL, "m.yaml:2: hub.name: holds a NUL character"},
    {"hub:\n  \"na\\0me\": x", HUB_EINVAL, "m.yaml:2: a key holds a NUL character"},
    {"hub:\n  name: a\n  name: b", HUB_EINVAL,
     "m.yaml:3: hub.name: duplicate key, first on line 2"},
    {"toolsets:\n  a:\n    module: x\n  b:\n    module: y\n  a:\n    module: z", HUB_EINVAL,
     "m.yaml:6: toolsets.a: duplicate key, first on line 2"},
    {"log:\n  level: info\nhub:\nlog:\n  level: debug", HUB_EINVAL,
     "m.yaml:4: log: duplicate key, first on line 1"},
    {"toolsets:\n  a:\n    config:\n      - {x: 1, y: 2, x: 3}", HUB_EINVAL,
     "m.yaml:4: toolsets.a.config[0].x: duplicate key, first on line 4"},
};

static const broken NOT_JSON[] = {
    {"{", HUB_EPARSE, "m.json:1: not valid JSON: a key in quotes was expected"},
    {"{\"hub\": }", HUB_EPARSE, "m.json:1: not valid JSON: a value was expected"},
    {"{\n  \"hub\": {\n    \"name\": \"x\n  }\n}", HUB_EPARSE,
     "m.json:3: not valid JSON: a control character inside a string"},
    {"{\n  // comment\n  \"hub\": {\n    \"name\" \"x\"\n  }\n}", HUB_EPARSE,
     "m.json:4: not valid JSON: ':' was expected"},
    {"{\"a\": 1} {}", HUB_EPARSE, "m.json:1: not valid JSON: something follows the value"},
    {"{,}", HUB_EPARSE, "m.json:1: not valid JSON: a key in quotes was expected"},
    {"{\"hub\": {\"name\": \"x\",,}}", HUB_EPARSE,
     "m.json:1: not valid JSON: a key in quotes was expected"},
    {"[,]", HUB_EPARSE, "m.json:1: not valid JSON: a value was expected"},
    {"{\"hub\": {}, /* never\n closed }", HUB_EPARSE,
     "m.json:1: not valid JSON: a comment has no end"},
    {"{\"toolsets\": null,\n\"zzzzzz\": 1}", HUB_EINVAL, "m.json:2: zzzzzz: unknown key"},
    {"// only a comment\n", HUB_EPARSE, "m.json:2: not valid JSON: a value was expected"},
    {"{\n\"hub\": {\n\"nmae\": \"x\"}}", HUB_EINVAL,
     "m.json:3: hub.nmae: unknown key; did you mean \"name\"?"},
    {"{\"hub\":\n {\"name\":\n \"a\\u0000b\"}}", HUB_EINVAL,
     "m.json:2: hub.name: holds a NUL character"},
    {"{\"hub\": {\"name\": 1},\n \"hub\": {}}", HUB_EINVAL,
     "m.json:2: hub: duplicate key, first on line 1"},
    {"{\"hub\": {\"name\": \"x\", \"na\\u006de\": \"y\"}}", HUB_EINVAL,
     "m.json:1: hub.name: duplicate key, first on line 1"},
    {"[1]", HUB_EINVAL, "m.json:1: wanted a map, found a list"},
    {"\"text\"", HUB_EINVAL, "m.json:1: wanted a map, found \"text\""},
    {"{\"toolsets\": {\n\"a\": {\n\"command\":\n5}}}", HUB_EINVAL,
     "m.json:3: toolsets.a.command: wanted text, found a number"},
    {"{\"hub\": {\"name\": \"\xff\"}}", HUB_EPARSE, "m.json:1: not valid JSON: not UTF-8"},
    {"{\"hub\": 007}", HUB_EPARSE,
     "m.json:1: not valid JSON: a number starts with a superfluous 0"},
    {"{'hub': 1}", HUB_EPARSE, "m.json:1: not valid JSON: a key in quotes was expected"},
    {"{hub: 1}", HUB_EPARSE, "m.json:1: not valid JSON: a key in quotes was expected"},
};

static const broken UNKNOWN_KEYS[] = {
    {"hubb:\n  name: x", HUB_EINVAL, "m.yaml:1: hubb: unknown key; did you mean \"hub\"?"},
    {"mcpServer:\n  a: {command: x}", HUB_EINVAL,
     "m.yaml:1: mcpServer: unknown key; did you mean \"mcpServers\"?"},
    {"toolset:\n  a:", HUB_EINVAL, "m.yaml:1: toolset: unknown key; did you mean \"toolsets\"?"},
    {"zzzzzz: 1", HUB_EINVAL, "m.yaml:1: zzzzzz: unknown key"},
    {"zzzzzz:\nhub:", HUB_EINVAL, "m.yaml:1: zzzzzz: unknown key"},
    {"toolsets:\nclock: {module: time}", HUB_EINVAL,
     "m.yaml:2: clock: unknown key; \"toolsets\" above is empty: indent what belongs to it"},
    {"toolsets: null\nclock: {module: time}", HUB_EINVAL, "m.yaml:2: clock: unknown key"},
    {"{toolsets: , zzzzzz: 1}", HUB_EINVAL, "m.yaml:1: zzzzzz: unknown key"},
    {"hub:\n  nmae: x", HUB_EINVAL, "m.yaml:2: hub.nmae: unknown key; did you mean \"name\"?"},
    {"hub:\n  title: a\n  namming: flat", HUB_EINVAL,
     "m.yaml:3: hub.namming: unknown key; did you mean \"naming\"?"},
    {"hub:\n  Name: x", HUB_EINVAL, "m.yaml:2: hub.Name: unknown key; did you mean \"name\"?"},
    {"hub:\n  meta-tools: true", HUB_EINVAL,
     "m.yaml:2: hub.meta-tools: unknown key; did you mean \"meta_tools\"?"},
    {"hub:\n  \"\": x", HUB_EINVAL, "m.yaml:2: hub.: unknown key"},
    {"modules:\n  path: [a]", HUB_EINVAL,
     "m.yaml:2: modules.path: unknown key; did you mean \"paths\"?"},
    {"toolsets:\n  git:\n    comand: uvx", HUB_EINVAL,
     "m.yaml:3: toolsets.git.comand: unknown key; did you mean \"command\"?"},
    {"toolsets:\n  git:\n    command: uvx\n    arg: [x]", HUB_EINVAL,
     "m.yaml:4: toolsets.git.arg: unknown key; did you mean \"args\"?"},
    {"toolsets:\n  git:\n    tools: {alow: [a]}", HUB_EINVAL,
     "m.yaml:3: toolsets.git.tools.alow: unknown key; did you mean \"allow\"?"},
    {"toolsets:\n  git:\n    Module: x", HUB_EINVAL,
     "m.yaml:3: toolsets.git.Module: unknown key; did you mean \"module\"?"},
    {"policy:\n  allowed: [a]", HUB_EINVAL,
     "m.yaml:2: policy.allowed: unknown key; did you mean \"allow\"?"},
    {"policy:\n  filters:\n    - tags: [a]", HUB_EINVAL,
     "m.yaml:3: policy.filters[0].tags: unknown key"},
    {"profiles:\n  dev:\n    page_size: 5", HUB_EINVAL,
     "m.yaml:3: profiles.dev.page_size: unknown key"},
    {"profiles:\n  dev:\n    policy: {read-only: true}", HUB_EINVAL,
     "m.yaml:3: profiles.dev.policy.read-only: unknown key; did you mean \"read_only\"?"},
    {"limits:\n  client_mesage: 4MiB", HUB_EINVAL,
     "m.yaml:2: limits.client_mesage: unknown key; did you mean \"client_message\"?"},
    {"limits:\n  timeout: 3s", HUB_EINVAL, "m.yaml:2: limits.timeout: unknown key"},
    {"log:\n  leval: info", HUB_EINVAL,
     "m.yaml:2: log.leval: unknown key; did you mean \"level\"?"},
    {"<<: {a: b}", HUB_EINVAL, "m.yaml:1: <<: unknown key"},
    {"listn:\n  - http: 1", HUB_EINVAL, "m.yaml:1: listn: unknown key; did you mean \"listen\"?"},
    {"auth:\n  token: f", HUB_EINVAL,
     "m.yaml:2: auth.token: unknown key; did you mean \"tokens\"?"},
    {"limits:\n  header_timeot: 3s", HUB_EINVAL,
     "m.yaml:2: limits.header_timeot: unknown key; did you mean \"header_timeout\"?"},
};

static const broken SECTIONS[] = {
    {"hub: []", HUB_EINVAL, "m.yaml:1: hub: wanted a map, found a list"},
    {"hub: text", HUB_EINVAL, "m.yaml:1: hub: wanted a map, found \"text\""},
    {"hub: 5", HUB_EINVAL, "m.yaml:1: hub: wanted a map, found the number 5"},
    {"hub: true", HUB_EINVAL, "m.yaml:1: hub: wanted a map, found true"},
    {"hub:\n  name: 5", HUB_EINVAL, "m.yaml:2: hub.name: wanted text, found the number 5"},
    {"hub:\n  name:", HUB_EINVAL, "m.yaml:2: hub.name: wanted text, found nothing"},
    {"hub:\n  name: \"\"", HUB_EINVAL, "m.yaml:2: hub.name: wanted text, found \"\""},
    {"hub:\n  name: [x]", HUB_EINVAL, "m.yaml:2: hub.name: wanted text, found a list"},
    {"hub:\n  title: {a: b}", HUB_EINVAL, "m.yaml:2: hub.title: wanted text, found a map"},
    {"hub:\n  instructions: true", HUB_EINVAL,
     "m.yaml:2: hub.instructions: wanted text, found true"},
    {"hub:\n  meta_tools: yes", HUB_EINVAL,
     "m.yaml:2: hub.meta_tools: wanted true, false, or a list of groups, found \"yes\""},
    {"hub:\n  meta_tools: 1", HUB_EINVAL,
     "m.yaml:2: hub.meta_tools: wanted true, false, or a list of groups, found the number 1"},
    {"hub:\n  meta_tools: \"true\"", HUB_EINVAL,
     "m.yaml:2: hub.meta_tools: wanted true, false, or a list of groups, found \"true\""},
    {"hub:\n  meta_tools: [toolset]", HUB_EINVAL,
     "m.yaml:2: hub.meta_tools[0]: wanted one of \"toolsets\", \"saved\", \"search\", "
     "\"fanout\", found \"toolset\"; did you mean \"toolsets\"?"},
    {"hub:\n  meta_tools:", HUB_EINVAL,
     "m.yaml:2: hub.meta_tools: wanted true, false, or a list of groups, found nothing"},
    {"hub:\n  startup: statc", HUB_EINVAL,
     "m.yaml:2: hub.startup: wanted one of \"default\", \"dynamic\", \"static\", found \"statc\"; "
     "did you mean \"static\"?"},
    {"hub:\n  startup: [static]", HUB_EINVAL,
     "m.yaml:2: hub.startup: wanted one of \"default\", \"dynamic\", \"static\", found a list"},
    {"hub:\n  naming: Prefix", HUB_EINVAL,
     "m.yaml:2: hub.naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found "
     "\"Prefix\"; did you mean \"prefix\"?"},
    {"hub:\n  naming: 7", HUB_EINVAL,
     "m.yaml:2: hub.naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found the "
     "number 7"},
    {"hub:\n  naming: something completely different and far too long", HUB_EINVAL,
     "m.yaml:2: hub.naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found "
     "\"something completely different and far t...\""},
    {"hub:\n  naming: 123456789012345678901234567890123456789\xc3\xa4", HUB_EINVAL,
     "m.yaml:2: hub.naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found "
     "\"123456789012345678901234567890123456789...\""},
    {"hub:\n  toolsets: all", HUB_EINVAL,
     "m.yaml:2: hub.toolsets: wanted a list of toolsets, or ALL, found \"all\""},
    {"hub:\n  toolsets: {a: b}", HUB_EINVAL, "m.yaml:2: hub.toolsets: wanted a list, found a map"},
    {"hub:\n  toolsets:", HUB_EINVAL,
     "m.yaml:2: hub.toolsets: wanted a list, found nothing; write [] for an empty one"},
    {"hub:\n  toolsets: [a, ALL]", HUB_EINVAL,
     "m.yaml:2: hub.toolsets[1]: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"hub:\n  toolsets: [5]", HUB_EINVAL,
     "m.yaml:2: hub.toolsets[0]: wanted a toolset's key, found the number 5"},
    {"hub:\n  page_size: 0", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted 1 to 100000, found the number 0"},
    {"hub:\n  page_size: 100001", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted 1 to 100000, found the number 100001"},
    {"hub:\n  page_size: -1", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted a whole number, found the number -1"},
    {"hub:\n  page_size: 1.5", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted a whole number, found the number 1.5"},
    {"hub:\n  page_size: \"10\"", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted a whole number, found \"10\""},
    {"hub:\n  page_size: 1e-3", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted a whole number, found the number 1e-3"},
    {"hub:\n  page_size: 99999999999999999999999", HUB_EINVAL,
     "m.yaml:2: hub.page_size: wanted 1 to 100000, found the number 99999999999999999999999"},
    {"hub:\n  max_name_length: 15", HUB_EINVAL,
     "m.yaml:2: hub.max_name_length: wanted 16 to 128, found the number 15"},
    {"hub:\n  max_name_length: 129", HUB_EINVAL,
     "m.yaml:2: hub.max_name_length: wanted 16 to 128, found the number 129"},
    {"modules:\n  paths: /x", HUB_EINVAL, "m.yaml:2: modules.paths: wanted a list, found \"/x\""},
    {"modules:\n  paths:", HUB_EINVAL,
     "m.yaml:2: modules.paths: wanted a list, found nothing; write [] for an empty one"},
    {"modules:\n  paths: [\"\"]", HUB_EINVAL,
     "m.yaml:2: modules.paths[0]: wanted a folder, found \"\""},
    {"modules:\n  paths: [5]", HUB_EINVAL,
     "m.yaml:2: modules.paths[0]: wanted a folder, found the number 5"},
    {"modules:\n  paths: [a, ~]", HUB_EINVAL,
     "m.yaml:2: modules.paths[1]: wanted a folder, found nothing"},
    {"modules:\n  paths: [~/x]", HUB_EINVAL,
     "m.yaml:2: modules.paths[0]: \"~\" has no meaning here: write the path out"},
    {"modules:\n  watch: on", HUB_EINVAL,
     "m.yaml:2: modules.watch: wanted true or false, found \"on\""},
    {"modules:\n  allow_writable: 0", HUB_EINVAL,
     "m.yaml:2: modules.allow_writable: wanted true or false, found the number 0"},
    {"policy: [allow]", HUB_EINVAL, "m.yaml:1: policy: wanted a map, found a list"},
    {"policy:\n  allow:", HUB_EINVAL,
     "m.yaml:2: policy.allow: wanted a list, found nothing; write [] for an empty one"},
    {"policy:\n  allow: git", HUB_EINVAL, "m.yaml:2: policy.allow: wanted a list, found \"git\""},
    {"policy:\n  allow: [Git]", HUB_EINVAL,
     "m.yaml:2: policy.allow[0]: a toolset's key is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"policy:\n  allow: [git, 5]", HUB_EINVAL,
     "m.yaml:2: policy.allow[1]: wanted a toolset's key, found the number 5"},
    {"policy:\n  deny: [_meta]", HUB_EINVAL,
     "m.yaml:2: policy.deny[0]: \"_meta\" is reserved for the hub's meta-tools"},
    {"policy:\n  deny: [a__b]", HUB_EINVAL,
     "m.yaml:2: policy.deny[0]: a toolset's key cannot contain \"__\", which separates it from a "
     "tool"},
    {"policy:\n  max_active: -1", HUB_EINVAL,
     "m.yaml:2: policy.max_active: wanted a whole number, found the number -1"},
    {"policy:\n  max_active: none", HUB_EINVAL,
     "m.yaml:2: policy.max_active: wanted a whole number, found \"none\""},
    {"policy:\n  filters: {namespace: [a]}", HUB_EINVAL,
     "m.yaml:2: policy.filters: wanted a list, found a map"},
    {"policy:\n  filters:", HUB_EINVAL, "m.yaml:2: policy.filters: wanted a list, found nothing"},
    {"policy:\n  filters: [namespace]", HUB_EINVAL,
     "m.yaml:2: policy.filters[0]: wanted a map with one key, found \"namespace\""},
    {"policy:\n  filters:\n    - {namespace: [a], category: [b]}", HUB_EINVAL,
     "m.yaml:3: policy.filters[0]: wanted one key, found 2"},
    {"policy:\n  filters:\n    - {}", HUB_EINVAL,
     "m.yaml:3: policy.filters[0]: wanted one key, found 0"},
    {"policy:\n  filters:\n    - namespace: a", HUB_EINVAL,
     "m.yaml:3: policy.filters[0].namespace: wanted a list, found \"a\""},
    {"policy:\n  filters:\n    - tags_any: [a]\n    - tags_all: [\"\"]", HUB_EINVAL,
     "m.yaml:4: policy.filters[1].tags_all[0]: wanted a name, found \"\""},
    {"policy:\n  read_only: 1", HUB_EINVAL,
     "m.yaml:2: policy.read_only: wanted true or false, found the number 1"},
    {"policy:\n  deny_destructive: yes", HUB_EINVAL,
     "m.yaml:2: policy.deny_destructive: wanted true or false, found \"yes\""},
    {"profiles: [a]", HUB_EINVAL, "m.yaml:1: profiles: wanted a map, found a list"},
    {"profiles:\n  Dev: {}", HUB_EINVAL,
     "m.yaml:2: profiles.Dev: a profile's name is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"profiles:\n  \"a/b\": {}", HUB_EINVAL,
     "m.yaml:2: profiles.a/b: a profile's name is a lower-case letter, then lower-case letters, "
     "digits, \"-\" and \"_\", at most 64 in all"},
    {"profiles:\n  dev: text", HUB_EINVAL, "m.yaml:2: profiles.dev: wanted a map, found \"text\""},
    {"profiles:\n  dev:\n    naming: x", HUB_EINVAL,
     "m.yaml:3: profiles.dev.naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found "
     "\"x\""},
    {"profiles:\n  dev:\n    max_name_length: 1000", HUB_EINVAL,
     "m.yaml:3: profiles.dev.max_name_length: wanted 16 to 128, found the number 1000"},
    {"profiles:\n  dev:\n    policy:\n      max_active: x", HUB_EINVAL,
     "m.yaml:4: profiles.dev.policy.max_active: wanted a whole number, found \"x\""},
    {"profiles:\n  dev:\n    startup: static", HUB_EINVAL,
     "m.yaml:3: profiles.dev.startup: a static start wants at least one toolset, or ALL, in "
     "\"toolsets\""},
    {"profiles:\n  dev:\n    toolsets: []", HUB_EINVAL,
     "m.yaml:3: profiles.dev.toolsets: a static start wants at least one toolset, or ALL, in "
     "\"toolsets\""},
    {"hub:\n  startup: static", HUB_EINVAL,
     "m.yaml:2: hub.startup: a static start wants at least one toolset, or ALL, in \"toolsets\""},
    {"hub:\n  startup: static\n  toolsets: []", HUB_EINVAL,
     "m.yaml:2: hub.startup: a static start wants at least one toolset, or ALL, in \"toolsets\""},
    {"hub:\n  toolsets: []", HUB_EINVAL,
     "m.yaml:2: hub.toolsets: a static start wants at least one toolset, or ALL, in \"toolsets\""},
    {"limits:\n  client_message: 4MB", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "\"4MB\""},
    {"limits:\n  client_message: 4 mib", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "\"4 mib\""},
    {"limits:\n  client_message: 1023", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted 1KiB to 1GiB, found the number 1023"},
    {"limits:\n  client_message: 2GiB", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted 1KiB to 1GiB, found \"2GiB\""},
    {"limits:\n  client_message: 99999999999GiB", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted 1KiB to 1GiB, found \"99999999999GiB\""},
    {"limits:\n  client_message: -4", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "the number -4"},
    {"limits:\n  client_message: 1.5MiB", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "\"1.5MiB\""},
    {"limits:\n  client_message:", HUB_EINVAL,
     "m.yaml:2: limits.client_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "nothing"},
    {"limits:\n  upstream_message: KiB", HUB_EINVAL,
     "m.yaml:2: limits.upstream_message: wanted a size in bytes or like \"64KiB\", \"4MiB\", found "
     "\"KiB\""},
    {"limits:\n  client_queue: [1]", HUB_EINVAL,
     "m.yaml:2: limits.client_queue: wanted a size in bytes or like \"64KiB\", \"4MiB\", found a "
     "list"},
    {"limits:\n  call_timeout: 60000", HUB_EINVAL,
     "m.yaml:2: limits.call_timeout: write the unit: \"60000s\" or \"60000ms\""},
    {"limits:\n  call_timeout: 0ms", HUB_EINVAL,
     "m.yaml:2: limits.call_timeout: wanted 1ms to 24h, found \"0ms\""},
    {"limits:\n  call_timeout: 11m", HUB_EINVAL,
     "m.yaml:2: limits.call_timeout: call_ceiling (600000 ms) is shorter than call_timeout (660000 "
     "ms)"},
    {"limits:\n  call_ceiling: 59s\n  call_timeout: 1m", HUB_EINVAL,
     "m.yaml:3: limits.call_timeout: call_ceiling (59000 ms) is shorter than call_timeout (60000 "
     "ms)"},
    {"limits:\n  discover_timeout: 5S", HUB_EINVAL,
     "m.yaml:2: limits.discover_timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", "
     "\"1h\", found \"5S\""},
    {"limits:\n  discover_timeout: true", HUB_EINVAL,
     "m.yaml:2: limits.discover_timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", "
     "\"1h\", found true"},
    {"limits:\n  calls_per_session: 0", HUB_EINVAL,
     "m.yaml:2: limits.calls_per_session: wanted 1 to 65536, found the number 0"},
    {"limits:\n  calls_per_session: 65537", HUB_EINVAL,
     "m.yaml:2: limits.calls_per_session: wanted 1 to 65536, found the number 65537"},
    {"limits:\n  calls_per_principal: 65537", HUB_EINVAL,
     "m.yaml:2: limits.calls_per_principal: wanted 0 to 65536, found the number 65537"},
    {"limits:\n  calls_per_second: 1000001", HUB_EINVAL,
     "m.yaml:2: limits.calls_per_second: wanted 0 to 1000000, found the number 1000001"},
    {"hub:\n  middleware: {time: maybe}\ntoolsets: {a: {}}", HUB_EINVAL,
     "m.yaml:2: hub.middleware.time: wanted true or false, found \"maybe\""},
    {"limits:\n  worker_threads: 0", HUB_EINVAL,
     "m.yaml:2: limits.worker_threads: wanted 1 to 64, found the number 0"},
    {"limits:\n  worker_threads: 65", HUB_EINVAL,
     "m.yaml:2: limits.worker_threads: wanted 1 to 64, found the number 65"},
    {"limits:\n  worker_threads: four", HUB_EINVAL,
     "m.yaml:2: limits.worker_threads: wanted a whole number, found \"four\""},
    {"log: debug", HUB_EINVAL, "m.yaml:1: log: wanted a map, found \"debug\""},
    {"log:\n  level: loud", HUB_EINVAL,
     "m.yaml:2: log.level: wanted one of \"debug\", \"info\", \"warning\", \"error\", \"off\", "
     "found \"loud\""},
    {"log:\n  level: INFO", HUB_EINVAL,
     "m.yaml:2: log.level: wanted one of \"debug\", \"info\", \"warning\", \"error\", \"off\", "
     "found \"INFO\"; did you mean \"info\"?"},
    {"log:\n  format: jsno", HUB_EINVAL,
     "m.yaml:2: log.format: wanted one of \"text\", \"json\", found \"jsno\"; did you mean "
     "\"json\"?"},
    {"log:\n  format: true", HUB_EINVAL,
     "m.yaml:2: log.format: wanted one of \"text\", \"json\", found true"},
};

static void test_not_yaml(void **state)
{
    (void)state;
    refuse_all("m.yaml", NOT_YAML, COUNT(NOT_YAML));
}

static void test_not_json(void **state)
{
    (void)state;
    refuse_all("m.json", NOT_JSON, COUNT(NOT_JSON));
}

static void test_unknown_keys(void **state)
{
    (void)state;
    refuse_all("m.yaml", UNKNOWN_KEYS, COUNT(UNKNOWN_KEYS));
}

static void test_sections(void **state)
{
    (void)state;
    refuse_all("m.yaml", SECTIONS, COUNT(SECTIONS));
}

#define TEXT_OF(number) #number
#define DIGITS(number)  TEXT_OF(number)

/* The figures are those of limits.h, which may change. */
static void test_limits_by_name(void **state)
{
    static const broken CASES[] = {
        {"policy:\n  max_active: 99999999", HUB_EINVAL,
         "m.yaml:2: policy.max_active: wanted 0 to " DIGITS(
             HUB_LIMIT_TOOLSETS) ", found the number 99999999"},
    };
    (void)state;
    refuse_all("m.yaml", CASES, COUNT(CASES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_yaml),       cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_unknown_keys),   cmocka_unit_test(test_sections),
        cmocka_unit_test(test_limits_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
