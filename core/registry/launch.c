/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/launch.h"

#include "base/digest.h"
#include "base/limits.h"
#include "registry/inputs.h"
#include "wire/json.h"

#include <string.h>

typedef struct launch_kind {
    const char *name;
    const char *official; /* the only registryBaseUrl that the program asks by itself; NULL: none */
    const char *note;
    hub_err (*make)(launch_making *making, const hub_node *package, hub_launch *launch);
} launch_kind;

bool hub_launch_is_sha256(hub_str text)
{
    return text.len == HUB_DIGEST_HEX_BYTES - 1 &&
           strspn(text.ptr, "0123456789abcdef") >= HUB_DIGEST_HEX_BYTES - 1;
}

/* A word that a package program takes for a name: no option, no space, nothing that it splits. */
static bool is_name(const char *text)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "@/._-";
    return text != NULL && text[0] != '-' && text[0] != '.' && text[0] != '/' && text[0] != '\0' &&
           text[strspn(text, ALLOWED)] == '\0' && strchr(text + 1, '@') == NULL;
}

/* One version: no tag such as "latest", no range. */
static bool is_version(const char *text)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".+_!-";
    bool has_digit = text != NULL && strpbrk(text, "0123456789") != NULL;
    return has_digit && text[0] != '-' && text[strspn(text, ALLOWED)] == '\0' &&
           strstr(text, ".x") == NULL && strcmp(text, "x") != 0;
}

/* Behind words with dots between; NULL: these are none. `is_before` is those of a version that comes
 * before another one, where a number has no needless zero. */
static const char *skip_words(const char *at, bool is_before)
{
    static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    for (;; at++) {
        size_t len = strspn(at, WORD);
        bool is_number = strspn(at, "0123456789") == len;
        if (len == 0 || (is_before && is_number && len > 1 && at[0] == '0')) {
            return NULL;
        }
        at += len;
        if (*at != '.') {
            return at;
        }
    }
}

/* One version of npm, MAJOR.MINOR.PATCH[-WORDS][+WORDS]: less is a range for it, or a tag. */
static bool is_npm_version(const char *text)
{
    const char *at = text != NULL && text[0] == 'v' ? text + 1 : text;
    for (size_t i = 0; at != NULL && i < 3; i++) {
        size_t len = strspn(at, "0123456789");
        bool is_number = len == 1 || (len > 1 && at[0] != '0');
        bool is_whole = is_number && (i == 2 || at[len] == '.');
        at = is_whole ? at + len + (i < 2) : NULL;
    }
    at = at != NULL && *at == '-' ? skip_words(at + 1, true) : at;
    at = at != NULL && *at == '+' ? skip_words(at + 1, false) : at;
    return at != NULL && *at == '\0';
}

static hub_err read_pinned(launch_making *making, const hub_node *package,
                           bool (*is_exact)(const char *), const char **ret_word)
{
    const char *name = hub_node_text_of(package, "identifier");
    const char *version = hub_node_text_of(package, "version");
    if (!is_name(name)) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "its identifier is not the name of a package");
    }
    if (!is_exact(version)) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "it names no exact version, so nothing can be pinned");
    }
    *ret_word = hub_arena_printf(making->arena, "%s@%s", name, version);
    return *ret_word != NULL ? HUB_OK : hub_fail(making->reterr, HUB_ENOMEM, "out of memory");
}

static void add_command(launch_making *making, const char *command)
{
    hub_buf_printf(&making->more, ",\"command\":\"%s\"", command);
}

/* The program, its arguments, the package in one version, and that one's arguments. */
static hub_err make_packaged(launch_making *making, const hub_node *package, const char *command,
                             const char *first, bool (*is_exact)(const char *))
{
    const char *pinned = NULL;
    const hub_node *before = hub_node_find(package, "runtimeArguments");
    hub_err err = read_pinned(making, package, is_exact, &pinned);
    add_command(making, command);
    if (first != NULL) {
        launch_add_word(making, first);
    }
    err = err == HUB_OK ? launch_add_arguments(making, before) : err;
    err = err == HUB_OK ? launch_add_published(making, pinned) : err;
    if (err == HUB_OK) {
        err = launch_add_arguments(making, hub_node_find(package, "packageArguments"));
    }
    return err == HUB_OK
               ? launch_add_map(making, "env", hub_node_find(package, "environmentVariables"), NULL)
               : err;
}

static hub_err make_npm(launch_making *making, const hub_node *package, hub_launch *launch)
{
    (void)launch;
    return make_packaged(making, package, "npx", "-y", is_npm_version);
}

static hub_err make_pypi(launch_making *making, const hub_node *package, hub_launch *launch)
{
    (void)launch;
    return make_packaged(making, package, "uvx", NULL, is_version);
}

static hub_err fail_undigested(launch_making *making, const char *name)
{
    return hub_fail(making->reterr, HUB_EDENIED,
                    "the image %.200s is named without its digest, and a name can mean another "
                    "image tomorrow: say --digest sha256:HEX (skopeo inspect --format "
                    "'{{.Digest}}' docker://%.200s tells it)",
                    name, name);
}

/* An image by its digest: a tag can be given to another image at any time. */
static hub_err read_image(launch_making *making, const hub_node *package, const char **ret_image)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "/._:-";
    const char *identifier = hub_node_text_of(package, "identifier");
    const char *name = identifier != NULL ? identifier : "";
    const char *wanted = making->wish->digest;
    size_t len = strcspn(name, "@");
    const char *own = name[len] == '@' ? name + len + 1 : wanted;
    if (len == 0 || name[0] == '-' || strspn(name, ALLOWED) != len) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "its identifier is not the name of an image");
    }
    if (own == NULL) {
        return fail_undigested(making, name);
    }
    if (wanted != NULL && strcmp(own, wanted) != 0) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "the image has another digest than --digest says");
    }
    if (strncmp(own, "sha256:", 7) != 0 || !hub_launch_is_sha256(hub_str_of(own + 7))) {
        return hub_fail(making->reterr, HUB_EINVAL,
                        "\"%.100s\": wanted sha256: and 64 hexadecimal digits", own);
    }
    *ret_image = hub_arena_printf(making->arena, "%.*s@%s", (int)len, name, own);
    return *ret_image != NULL ? HUB_OK : hub_fail(making->reterr, HUB_ENOMEM, "out of memory");
}

/* The value is in the environment of the program, which hands it on. */
static void pass_variable(launch_making *making, const char *name)
{
    launch_add_word(making, "-e");
    launch_add_word(making, name);
}

static hub_err make_oci(launch_making *making, const hub_node *package, hub_launch *launch)
{
    (void)launch;
    const char *image = NULL;
    const char *hint = hub_node_text_of(package, "runtimeHint");
    hub_err err = read_image(making, package, &image);
    add_command(making, hint != NULL && strcmp(hint, "podman") == 0 ? "podman" : "docker");
    launch_add_word(making, "run");
    launch_add_word(making, "-i");
    launch_add_word(making, "--rm");
    if (err == HUB_OK) {
        err = launch_add_map(making, "env", hub_node_find(package, "environmentVariables"),
                             pass_variable);
    }
    if (err == HUB_OK) {
        err = launch_add_arguments(making, hub_node_find(package, "runtimeArguments"));
    }
    err = err == HUB_OK ? launch_add_published(making, image) : err;
    return err == HUB_OK ? launch_add_arguments(making, hub_node_find(package, "packageArguments"))
                         : err;
}

static hub_err make_mcpb(launch_making *making, const hub_node *package, hub_launch *launch)
{
    const char *url = hub_node_text_of(package, "identifier");
    const char *digest = hub_node_text_of(package, "fileSha256");
    if (url == NULL || strncmp(url, "http", 4) != 0) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "the identifier of a bundle is its URL");
    }
    if (digest == NULL || !hub_launch_is_sha256(hub_str_of(digest))) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "a bundle needs its fileSha256, and this one has none");
    }
    launch->bundle_url = url;
    launch->bundle_digest = digest;
    return HUB_OK;
}

static const launch_kind KINDS[] = {
    {"npm", "https://registry.npmjs.org",
     "npx installs just this version; it holds it against no digest", make_npm},
    {"pypi", "https://pypi.org", "uvx installs just this version; it holds it against no digest",
     make_pypi},
    {"oci", NULL, NULL, make_oci},
    {"mcpb", NULL, NULL, make_mcpb},
};

static const launch_kind *find_kind(const hub_node *package)
{
    const char *name = hub_node_text_of(package, "registryType");
    for (size_t i = 0; name != NULL && i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

/* Whether it is spoken to over pipes. Of others the program's place is known only once it runs. */
static bool is_stdio(const hub_node *package)
{
    const hub_node *transport = hub_node_find(package, "transport");
    const char *type = transport != NULL ? hub_node_text_of(transport, "type") : "stdio";
    return type != NULL && strcmp(type, "stdio") == 0;
}

static const hub_node *find_package(const hub_node *server, const char *wanted)
{
    const hub_node *packages = hub_node_find(server, "packages");
    const hub_node *one = packages != NULL ? packages->first : NULL;
    for (; one != NULL; one = one->next) {
        const launch_kind *kind = find_kind(one);
        if (kind != NULL && is_stdio(one) && (wanted == NULL || strcmp(wanted, kind->name) == 0)) {
            return one;
        }
    }
    return NULL;
}

static hub_err make_package(launch_making *making, const hub_node *package, hub_launch *launch)
{
    const launch_kind *kind = find_kind(package);
    const char *base = hub_node_text_of(package, "registryBaseUrl");
    size_t len = kind->official != NULL ? strlen(kind->official) : 0;
    if (base != NULL && kind->official != NULL &&
        (strncmp(base, kind->official, len) != 0 || (base[len] != '\0' && base[len] != '/'))) {
        return hub_node_fail(package, making->reterr, HUB_EINVAL,
                             "the package is at %.200s, where %s does not look by itself: add it "
                             "with its command (patchbay help add)",
                             base, kind->name);
    }
    launch->kind = kind->name;
    launch->note = kind->note;
    return kind->make(making, package, launch);
}

static hub_err make_remote(launch_making *making, const hub_node *remote, hub_launch *launch)
{
    const char *type = hub_node_text_of(remote, "type");
    const char *url = NULL;
    bool is_sse = type != NULL && strcmp(type, "sse") == 0;
    if (type == NULL || (!is_sse && strcmp(type, "streamable-http") != 0)) {
        return hub_node_fail(remote, making->reterr, HUB_EINVAL,
                             "its type is not one of the hub's");
    }
    hub_err err = launch_fill_url(making, remote, &url);
    if (err != HUB_OK) {
        return err;
    }
    launch->kind = "remote";
    hub_buf_printf(&making->more, ",\"type\":\"%s\",\"url\":", is_sse ? "sse" : "http");
    hub_json_add_string(&making->more, hub_str_of(url));
    return launch_add_map(making, "headers", hub_node_find(remote, "headers"), NULL);
}

static hub_err make(launch_making *making, const hub_node *server, hub_launch *launch)
{
    const char *wanted = making->wish->kind;
    bool wants_remote = wanted != NULL && strcmp(wanted, "remote") == 0;
    const hub_node *package = wants_remote ? NULL : find_package(server, wanted);
    const hub_node *remotes = hub_node_find(server, "remotes");
    const hub_node *remote = remotes != NULL ? remotes->first : NULL;
    if (package != NULL) {
        return make_package(making, package, launch);
    }
    if (remote != NULL && (wanted == NULL || wants_remote)) {
        return make_remote(making, remote, launch);
    }
    return hub_fail(making->reterr, HUB_ENOTFOUND,
                    wanted != NULL
                        ? "%.100s %.100s: nothing of kind %.20s is in it that the hub can "
                          "use"
                        : "%.100s %.100s: nothing is in it that the hub can use (npm, "
                          "pypi, oci or mcpb over pipes, or a remote server)%s",
                    launch->name, launch->version, wanted != NULL ? wanted : "");
}

/* Put the members together; the description comes last, as people write it. */
static hub_err finish(launch_making *making, hub_launch *launch)
{
    hub_str members = hub_buf_str(&making->more);
    hub_buf_init(&launch->entry, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add_char(&launch->entry, '{');
    hub_buf_add(&launch->entry, members.len > 0 ? hub_str_from(members, 1) : members);
    if (making->args.len > 1) {
        hub_json_add_key(&launch->entry, HUB_STR("args"));
        hub_buf_add(&launch->entry, hub_buf_str(&making->args));
        hub_buf_add_char(&launch->entry, ']');
    }
    if (launch->description != NULL) {
        hub_json_add_key(&launch->entry, HUB_STR("description"));
        hub_json_add_string(&launch->entry, hub_str_of(launch->description));
    }
    hub_buf_add_char(&launch->entry, '}');
    return hub_buf_ok(&launch->entry) && hub_buf_ok(&making->args) && hub_buf_ok(&making->more)
               ? HUB_OK
               : hub_fail(making->reterr, HUB_ENOMEM, "out of memory");
}

hub_err hub_launch_make(const hub_node *server, const hub_launch_wish *wish, hub_arena *arena,
                        hub_launch *ret_launch, hub_error *reterr)
{
    launch_making making = {.wish = wish, .arena = arena, .reterr = reterr};
    hub_launch launch = {.name = hub_node_text_of(server, "name"),
                         .version = hub_node_text_of(server, "version"),
                         .description = hub_node_text_of(server, "description")};
    if (launch.name == NULL || launch.version == NULL) {
        return hub_node_fail(server, reterr, HUB_EINVAL,
                             "not a server.json: it has no name, or no version");
    }
    hub_buf_init(&making.args, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&making.more, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add_char(&making.args, '[');
    hub_err err = make(&making, server, &launch);
    err = err == HUB_OK ? finish(&making, &launch) : err;
    hub_buf_fini(&making.args);
    hub_buf_fini(&making.more);
    if (err != HUB_OK) {
        hub_buf_fini(&launch.entry);
        return err;
    }
    *ret_launch = launch;
    return HUB_OK;
}
