/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay search, and add for a name of a registry: the registry API, v0.1. */
#include "cli/cli.h"

#include "base/limits.h"
#include "cli/bundle.h"
#include "cli/columns.h"
#include "cli/offer.h"
#include "registry/download.h"
#include "registry/launch.h"
#include "wire/json.h"

#include <string.h>

#define OFFICIAL "https://registry.modelcontextprotocol.io"
#define META     "io.modelcontextprotocol.registry/official"

enum { ARENA_BYTES = 64 * 1024 * 1024, PAGE_SERVERS = 50, URL_BYTES = 16 * 1024 };

/* The root of the API, without a slash at its end. */
static hub_str find_registry(const cli_options *options)
{
    hub_str base = hub_str_of(options->registry != NULL ? options->registry : OFFICIAL);
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    return base;
}

/* Get a document; NULL: a line on stderr has said why not. The nodes are of the arena. */
static const hub_node *fetch(const cli_options *options, hub_buf *url, hub_arena *arena,
                             const char *missing)
{
    hub_error why = {.code = HUB_OK};
    const hub_node *root = NULL;
    long status = 0;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_REGISTRY_BYTES);
    hub_buf_add_char(url, '\0');
    hub_err err = hub_buf_ok(url) ? hub_download_text(url->ptr, options->ca, &text, &status, &why)
                                  : hub_fail(&why, HUB_ELIMIT, "the URL is too long");
    if (err == HUB_OK && status != 200) {
        err = hub_fail(&why, HUB_EUNAVAILABLE, "%.300s: it answers with status %ld%s", url->ptr,
                       status, status == 404 ? missing : "");
    }
    if (err == HUB_OK) {
        err = hub_node_parse("answer.json", hub_buf_str(&text), arena, &root, &why);
    }
    hub_buf_fini(&text);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
    }
    return err == HUB_OK ? root : NULL;
}

/* active, deprecated or deleted; "" when it does not say. */
static const char *status_of(const hub_node *answer)
{
    const hub_node *meta = hub_node_find(answer, "_meta");
    const hub_node *official = meta != NULL ? hub_node_find(meta, META) : NULL;
    const char *status = hub_node_text_of(official, "status");
    return status != NULL ? status : "";
}

/* ---- search ----------------------------------------------------------------------------------- */

typedef struct searching {
    cli_options *options;
    hub_arena *arena;
    cli_columns columns;
    hub_buf json;
    size_t count;
    bool has_more; /* than it was asked for */
} searching;

/* What kinds of it there are: "npm, oci". */
static const char *list_kinds(const hub_node *server, hub_arena *arena)
{
    hub_buf out;
    hub_buf_init(&out, 256);
    const hub_node *packages = hub_node_find(server, "packages");
    const hub_node *remotes = hub_node_find(server, "remotes");
    for (const hub_node *one = packages != NULL ? packages->first : NULL; one != NULL;
         one = one->next) {
        const char *kind = hub_node_text_of(one, "registryType");
        hub_buf_printf(&out, "%s%.20s", out.len > 0 ? ", " : "", kind != NULL ? kind : "?");
    }
    if (remotes != NULL && remotes->count > 0) {
        hub_buf_printf(&out, "%sremote", out.len > 0 ? ", " : "");
    }
    const char *kinds = hub_buf_ok(&out) ? hub_arena_strdup(arena, hub_buf_str(&out)) : "many";
    hub_buf_fini(&out);
    return kinds != NULL ? kinds : "";
}

static void add_member(hub_buf *json, const char *key, const char *value)
{
    hub_json_add_key(json, hub_str_of(key));
    hub_json_add_string(json, hub_str_of(value));
}

static void add_found(searching *all, const hub_node *answer)
{
    const hub_node *server = hub_node_find(answer, "server");
    const char *name = server != NULL ? hub_node_text_of(server, "name") : NULL;
    const char *status = status_of(answer);
    if (name == NULL || strcmp(status, "deleted") == 0) {
        return;
    }
    const char *version = hub_node_text_of(server, "version");
    const char *about = hub_node_text_of(server, "description");
    const char *kinds = list_kinds(server, all->arena);
    version = version != NULL ? version : "";
    about = about != NULL ? about : "";
    all->count++;
    if (all->options->json) {
        hub_json_add_comma(&all->json);
        hub_buf_add_char(&all->json, '{');
        add_member(&all->json, "name", name);
        add_member(&all->json, "version", version);
        add_member(&all->json, "kinds", kinds);
        add_member(&all->json, "status", status);
        add_member(&all->json, "description", about);
        hub_buf_add_char(&all->json, '}');
        return;
    }
    bool is_old = strcmp(status, "deprecated") == 0;
    const char *shown = is_old ? hub_arena_printf(all->arena, "(deprecated) %s", about) : about;
    const char *const cells[] = {name, version, kinds, shown != NULL ? shown : ""};
    cli_columns_add(&all->columns, cells);
}

static int search(searching *all, const char *text)
{
    const char *cursor = NULL;
    for (unsigned page = 0; page < HUB_LIMIT_REGISTRY_PAGES; page++) {
        hub_buf url;
        hub_buf_init(&url, URL_BYTES);
        hub_buf_printf(&url, HUB_STR_FMT "/v0.1/servers?limit=%d&version=latest&search=",
                       HUB_STR_ARG(find_registry(all->options)), PAGE_SERVERS);
        hub_url_add_part(&url, hub_str_of(text));
        if (cursor != NULL) {
            hub_buf_add(&url, HUB_STR("&cursor="));
            hub_url_add_part(&url, hub_str_of(cursor));
        }
        const hub_node *root = fetch(all->options, &url, all->arena, ": is it a registry?");
        hub_buf_fini(&url);
        if (root == NULL) {
            return EXIT_UNREACHABLE;
        }
        const hub_node *servers = hub_node_find(root, "servers");
        for (const hub_node *one = servers != NULL ? servers->first : NULL; one != NULL;
             one = one->next) {
            add_found(all, one);
        }
        const hub_node *metadata = hub_node_find(root, "metadata");
        cursor = hub_node_text_of(metadata, "nextCursor");
        if (cursor == NULL || cursor[0] == '\0') {
            return EXIT_OK;
        }
    }
    all->has_more = true;
    return EXIT_OK;
}

int cli_search(cli_options *options)
{
    if (options->argument_count != 1) {
        cli_complain("usage: patchbay search TEXT, a part of a server's name");
        return EXIT_USAGE;
    }
    static const char *const TITLES[] = {"NAME", "VERSION", "KINDS", "DESCRIPTION"};
    searching all = {.options = options, .arena = hub_arena_create(ARENA_BYTES)};
    hub_buf_init(&all.json, 16 * HUB_LIMIT_REGISTRY_BYTES);
    cli_columns_init(&all.columns, 4, TITLES);
    hub_buf_add_char(&all.json, '[');
    int status = all.arena != NULL ? search(&all, options->arguments[0]) : EXIT_INTERNAL;
    if (status == EXIT_OK && options->json) {
        hub_buf_add_char(&all.json, ']');
        cli_print_json(hub_buf_str(&all.json));
    } else if (status == EXIT_OK && all.count > 0) {
        cli_columns_print(&all.columns);
    } else if (status == EXIT_OK && !all.has_more) {
        cli_complain("the registry has no server with \"%s\" in its name", options->arguments[0]);
    }
    if (all.has_more) {
        cli_complain("there are more: say more of the name");
    }
    cli_columns_fini(&all.columns);
    hub_buf_fini(&all.json);
    hub_arena_destroy(all.arena);
    return status;
}

/* ---- add -------------------------------------------------------------------------------------- */

/* What the registry says of it, and whether that is what was asked for. */
static const hub_node *find_server(cli_offer *offer, const char *name, const char *version)
{
    hub_buf url;
    hub_buf_init(&url, URL_BYTES);
    hub_buf_printf(&url, HUB_STR_FMT "/v0.1/servers/", HUB_STR_ARG(find_registry(offer->options)));
    hub_url_add_part(&url, hub_str_of(name));
    hub_buf_add(&url, HUB_STR("/versions/"));
    hub_url_add_part(&url, hub_str_of(version != NULL ? version : "latest"));
    const hub_node *root = fetch(offer->options, &url, offer->arena,
                                 ": there is no such server, or no such version; see patchbay "
                                 "search");
    hub_buf_fini(&url);
    const hub_node *server = root != NULL ? hub_node_find(root, "server") : NULL;
    const char *found = hub_node_text_of(server, "name");
    const char *found_version = hub_node_text_of(server, "version");
    if (root == NULL) {
        return NULL;
    }
    if (found == NULL || strcmp(found, name) != 0 ||
        (version != NULL && (found_version == NULL || strcmp(found_version, version) != 0))) {
        cli_complain("the registry answers with another server than %s", name);
        return NULL;
    }
    if (strcmp(status_of(root), "deleted") == 0) {
        cli_complain("%s was deleted from the registry: it is not added", found);
        return NULL;
    }
    if (strcmp(status_of(root), "deprecated") == 0) {
        cli_complain("warning: %s is deprecated", found);
    }
    return server;
}

static int offer_launch(cli_offer *offer, const hub_launch *launch)
{
    if (launch->bundle_url != NULL) {
        return cli_add_bundle(offer->options, launch->bundle_url, launch->bundle_digest,
                              offer->key);
    }
    int status = cli_offer_decide(offer, launch, NULL);
    return status == EXIT_OK ? cli_offer_add(offer, hub_buf_str(&launch->entry)) : status;
}

/* OWNER/SERVER, as the registry's schema has it. */
static bool is_server_name(hub_str name)
{
    size_t slashes = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        slashes += c == '/';
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_plain && c != '/' && c != '.' && c != '-' && (c != '_' || slashes == 0)) {
            return false;
        }
    }
    return slashes == 1 && name.ptr[0] != '/' && name.ptr[name.len - 1] != '/';
}

int cli_add_registered(cli_options *options)
{
    cli_offer offer;
    hub_launch launch;
    hub_error why = {.code = HUB_OK};
    const char *word = options->arguments[0];
    const char *at = strrchr(word, '@');
    hub_str bare = at != NULL ? hub_str_between(word, at) : hub_str_of(word);
    if (!is_server_name(bare) || (at != NULL && at[1] == '\0')) {
        cli_complain(
            "\"%s\" is not a name of a registry (OWNER/SERVER or OWNER/SERVER@VERSION): see "
            "patchbay search, or patchbay help add for other servers",
            word);
        return EXIT_USAGE;
    }
    int status = cli_offer_begin(&offer, options, bare);
    const char *name = status == EXIT_OK ? hub_arena_strdup(offer.arena, bare) : NULL;
    const hub_node *server =
        name != NULL ? find_server(&offer, name, at != NULL ? at + 1 : NULL) : NULL;
    if (server == NULL) {
        cli_offer_end(&offer);
        return status != EXIT_OK ? status : EXIT_CONFIG;
    }
    const hub_launch_wish wish = {.kind = options->package,
                                  .digest = options->digest,
                                  .giver = {.give = cli_offer_give, .ctx = &offer}};
    hub_err err = hub_launch_make(server, &wish, offer.arena, &launch, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        status = err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    } else {
        status = offer_launch(&offer, &launch);
        hub_buf_fini(&launch.entry);
    }
    cli_offer_end(&offer);
    return status;
}
