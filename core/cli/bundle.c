/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay add FILE.mcpb, and run-bundle, which a hub starts such a server through. A bundle lies
 * unpacked in a folder that is named by the digest of its file, and that nobody may write to.
 */
#include "cli/bundle.h"

#include "base/limits.h"
#include "bundle/bundle.h"
#include "bundle/tree.h"
#include "bundle/unpack.h"
#include "cli/offer.h"
#include "config/file.h"
#include "registry/download.h"
#include "unpack/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_BYTES = 64 * 1024 * 1024, PIECE_BYTES = 64 * 1024 };

typedef struct bundling {
    cli_options *options;
    hub_arena *arena;
    const char *store;  /* the folder of all bundles */
    const char *folder; /* where this one is unpacked … */
    const char *place;  /* … and where it will be */
    int fd;             /* its file, which has no name */
    hub_digest digest;
    char file_hex[HUB_DIGEST_HEX_BYTES];
    char tree_hex[HUB_DIGEST_HEX_BYTES];
    uint64_t shown; /* bytes that progress has told of */
    hub_error why;
} bundling;

bool cli_is_bundle(const char *word)
{
    size_t len = strlen(word);
    return len > 5 && strcmp(word + len - 5, ".mcpb") == 0;
}

static bool is_url(const char *word)
{
    return strstr(word, "://") != NULL;
}

/* ---- the file --------------------------------------------------------------------------------- */

static bool take(void *ctx, hub_str piece, uint64_t total)
{
    enum { STEP_BYTES = 4 * 1024 * 1024 };
    bundling *all = ctx;
    hub_digest_add(&all->digest, piece.ptr, piece.len);
    all->shown += piece.len;
    if (all->shown / STEP_BYTES != (all->shown - piece.len) / STEP_BYTES &&
        isatty(STDERR_FILENO) == 1) {
        cli_complain("%llu of %llu MiB", (unsigned long long)(all->shown >> 20),
                     (unsigned long long)(total >> 20));
    }
    while (piece.len > 0) {
        ssize_t len = write(all->fd, piece.ptr, piece.len);
        if (len < 0 && errno != EINTR) {
            return false;
        }
        piece = hub_str_from(piece, len > 0 ? (size_t)len : 0);
    }
    return true;
}

static hub_err copy_file(bundling *all, const char *path)
{
    static char piece[PIECE_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t bytes = 0;
    hub_err err = fd >= 0
                      ? HUB_OK
                      : hub_fail(&all->why, HUB_ENOTFOUND, "%s: %s", path, strerrordesc_np(errno));
    for (ssize_t len = 1; err == HUB_OK && len != 0;) {
        len = read(fd, piece, sizeof piece);
        bytes += len > 0 ? (uint64_t)len : 0;
        if (bytes > HUB_UNPACK_BYTES) {
            err = hub_fail(&all->why, HUB_ELIMIT, "%s: more than 512 MiB", path);
        } else if (len < 0 ||
                   !take(all, (hub_str){.ptr = piece, .len = (size_t)len}, HUB_UNPACK_BYTES)) {
            err = hub_fail(&all->why, HUB_ESYSTEM, "%s: it cannot be copied: %s", path,
                           strerrordesc_np(errno));
        }
    }
    if (fd >= 0) {
        (void)close(fd); /* read only */
    }
    return err;
}

static hub_err fetch_file(bundling *all, const char *url)
{
    const hub_download download = {.url = url,
                                   .ca = all->options->ca,
                                   .follows = true,
                                   .max_bytes = HUB_UNPACK_BYTES,
                                   .take = take,
                                   .ctx = all};
    long status = 0;
    hub_err err = hub_download_run(&download, &status, &all->why);
    return err == HUB_OK && status != 200
               ? hub_fail(&all->why, HUB_EUNAVAILABLE, "%.300s: it answers with status %ld", url,
                          status)
               : err;
}

/* What the file must have; NULL: nobody says. */
static hub_err find_wanted(bundling *all, const char *source, const char *digest,
                           const char **ret_wanted)
{
    const char *said = all->options->digest;
    said = said != NULL && strncmp(said, "sha256:", 7) == 0 ? said + 7 : said;
    *ret_wanted = digest != NULL ? digest : said;
    if (*ret_wanted == NULL && is_url(source)) {
        return hub_fail(&all->why, HUB_EDENIED,
                        "a bundle of the network is held against its digest: say --digest "
                        "sha256:HEX, as who publishes it tells it");
    }
    if (*ret_wanted != NULL && !hub_launch_is_sha256(hub_str_of(*ret_wanted))) {
        return hub_fail(&all->why, HUB_EINVAL,
                        "\"%.100s\": wanted sha256: and 64 hexadecimal digits", *ret_wanted);
    }
    return HUB_OK;
}

/* Take the file over, so that what is looked at is what is unpacked. */
static hub_err get_file(bundling *all, const char *source, const char *digest)
{
    const char *wanted = NULL;
    unsigned char bytes[HUB_DIGEST_BYTES];
    hub_err err = find_wanted(all, source, digest, &wanted);
    if (err == HUB_OK) {
        all->fd = open(all->store, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        err = all->fd >= 0
                  ? HUB_OK
                  : hub_fail(&all->why, HUB_ESYSTEM, "%s: %s", all->store, strerrordesc_np(errno));
    }
    hub_digest_init(&all->digest);
    if (err == HUB_OK) {
        err = is_url(source) ? fetch_file(all, source) : copy_file(all, source);
    }
    hub_digest_end(&all->digest, bytes);
    hub_digest_hex(bytes, all->file_hex);
    if (err == HUB_OK && wanted != NULL && strcmp(wanted, all->file_hex) != 0) {
        err = hub_fail(&all->why, HUB_EDENIED,
                       "%.300s is not the bundle that was meant: its SHA-256 is %s, wanted %s",
                       source, all->file_hex, wanted);
    }
    if (err == HUB_OK && lseek(all->fd, 0, SEEK_SET) != 0) {
        err = hub_fail(&all->why, HUB_ESYSTEM, "%s", strerrordesc_np(errno));
    }
    return err;
}

/* ---- its files -------------------------------------------------------------------------------- */

/* $XDG_DATA_HOME/patchbay/bundles. */
static hub_err make_store(bundling *all)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    all->store = data != NULL && data[0] == '/'
                     ? hub_arena_printf(all->arena, "%s/patchbay/bundles", data)
                 : home != NULL && home[0] == '/'
                     ? hub_arena_printf(all->arena, "%s/.local/share/patchbay/bundles", home)
                     : NULL;
    return all->store != NULL
               ? hub_file_make_folder(all->store, &all->why)
               : hub_fail(&all->why, HUB_ENOTFOUND, "there is no HOME to keep bundles in");
}

static hub_err unpack(bundling *all)
{
    char *folder = hub_arena_printf(all->arena, "%s/.new-XXXXXX", all->store);
    all->place = hub_arena_printf(all->arena, "%s/%s", all->store, all->file_hex);
    if (folder == NULL || all->place == NULL) {
        return hub_fail(&all->why, HUB_ENOMEM, "out of memory");
    }
    if (mkdtemp(folder) == NULL) {
        return hub_fail(&all->why, HUB_ESYSTEM, "%s: %s", all->store, strerrordesc_np(errno));
    }
    all->folder = folder;
    hub_err err = hub_unpack(all->fd, folder, &all->why);
    err = err == HUB_OK ? hub_tree_close(folder, &all->why) : err;
    return err == HUB_OK ? hub_tree_digest(folder, all->tree_hex, &all->why) : err;
}

static hub_err read_manifest(bundling *all, const hub_node **ret_manifest)
{
    const char *path = hub_arena_printf(all->arena, "%s/manifest.json", all->folder);
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_REGISTRY_BYTES);
    hub_err err = path != NULL ? hub_file_read(path, &text, NULL, &all->why) : HUB_ENOMEM;
    if (err == HUB_OK) {
        err = hub_node_parse("manifest.json", hub_buf_str(&text), all->arena, ret_manifest,
                             &all->why);
    } else if (err == HUB_ENOTFOUND) {
        err = hub_fail(&all->why, HUB_EINVAL, "it is not a bundle: it has no manifest.json");
    }
    hub_buf_fini(&text);
    return err;
}

/* Put it in its place, unless the same is there. */
static hub_err place_files(bundling *all)
{
    char there[HUB_DIGEST_HEX_BYTES];
    hub_error ignored = {.code = HUB_OK};
    if (hub_tree_digest(all->place, there, &ignored) == HUB_OK) {
        if (strcmp(there, all->tree_hex) == 0) {
            return HUB_OK;
        }
        return hub_fail(&all->why, HUB_ECONFLICT,
                        "%s: other files than those of this bundle are there: delete them",
                        all->place);
    }
    if (rename(all->folder, all->place) != 0) {
        return hub_fail(&all->why, HUB_ESYSTEM, "%s: %s", all->place, strerrordesc_np(errno));
    }
    all->folder = NULL;
    return HUB_OK;
}

/* ---- add -------------------------------------------------------------------------------------- */

static int offer_bundle(bundling *all, cli_offer *offer, const hub_node *manifest)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    const hub_bundle_wish wish = {.folder = all->place,
                                  .program = program,
                                  .digest = all->tree_hex,
                                  .home = getenv("HOME"),
                                  .giver = {.give = cli_offer_give, .ctx = offer}};
    hub_launch launch;
    hub_err err = hub_bundle_make(manifest, &wish, all->arena, &launch, &all->why);
    if (err != HUB_OK) {
        cli_complain("%s", all->why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    launch.note = "its files are held against their digest at each start";
    int status = cli_offer_decide(offer, &launch, all->file_hex);
    if (status == EXIT_OK && !all->options->dry_run) {
        err = place_files(all);
        if (err != HUB_OK) {
            cli_complain("%s", all->why.text);
            status = EXIT_CONFIG;
        }
    }
    status = status == EXIT_OK ? cli_offer_add(offer, hub_buf_str(&launch.entry)) : status;
    hub_buf_fini(&launch.entry);
    return status;
}

static int add_unpacked(bundling *all, const char *key)
{
    const hub_node *manifest = NULL;
    cli_offer offer;
    hub_err err = read_manifest(all, &manifest);
    const hub_node *name = err == HUB_OK ? hub_node_find(manifest, "name") : NULL;
    if (err == HUB_OK && (name == NULL || name->kind != HUB_NODE_TEXT)) {
        err = hub_fail(&all->why, HUB_EINVAL, "not the manifest of a bundle: it has no name");
    }
    if (err != HUB_OK) {
        cli_complain("%s", all->why.text);
        return EXIT_CONFIG;
    }
    int status = cli_offer_begin(&offer, all->options, key != NULL ? hub_str_of(key) : name->text);
    status = status == EXIT_OK ? offer_bundle(all, &offer, manifest) : status;
    cli_offer_end(&offer);
    return status;
}

int cli_add_bundle(cli_options *options, const char *source, const char *digest, const char *key)
{
    bundling all = {.options = options, .arena = hub_arena_create(ARENA_BYTES), .fd = -1};
    hub_error ignored = {.code = HUB_OK};
    if (all.arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    hub_err err = make_store(&all);
    err = err == HUB_OK ? get_file(&all, source, digest) : err;
    err = err == HUB_OK ? unpack(&all) : err;
    int status = EXIT_OK;
    if (err == HUB_OK) {
        status = add_unpacked(&all, key);
    } else {
        cli_complain("%s", all.why.text);
        status = err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    if (all.fd >= 0) {
        (void)close(all.fd); /* it has no name: nothing is left of it */
    }
    if (all.folder != NULL && hub_tree_delete(all.folder, &ignored) != HUB_OK) {
        cli_complain("warning: %s stays: %s", all.folder, ignored.text);
    }
    hub_arena_destroy(all.arena);
    return status;
}

/* ---- run-bundle ------------------------------------------------------------------------------- */

int cli_run_bundle(cli_options *options)
{
    char found[HUB_DIGEST_HEX_BYTES];
    hub_error why = {.code = HUB_OK};
    if (options->argument_count < 2 || options->digest == NULL) {
        cli_complain("usage: patchbay run-bundle --digest HEX -- FOLDER COMMAND [ARGUMENT]...");
        return EXIT_USAGE;
    }
    const char *folder = options->arguments[0];
    if (hub_tree_digest(folder, found, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    if (strcmp(found, options->digest) != 0) {
        cli_complain("%s: its files are not those that were added: their digest is %s, wanted %s. "
                     "Remove the toolset and add the bundle again",
                     folder, found, options->digest);
        return EXIT_CONFIG;
    }
    union {
        const char **from;
        char *const *to;
    } words = {.from = &options->arguments[1]};
    options->arguments[options->argument_count] = NULL;
    (void)execvp(words.to[0], words.to);
    cli_complain("%s: %s", words.to[0], strerrordesc_np(errno));
    return EXIT_CONFIG;
}
