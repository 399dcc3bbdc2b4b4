/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ModuleResolver: finds plugins in the configured folders, checks them, loads them, and notices new
 * and replaced ones while the hub runs. It knows nothing of toolsets and calls nothing in a plugin.
 *
 * A plugin is loaded from a private copy in memory (memfd) of the very bytes that were checked:
 * overwriting or deleting the file can neither crash the hub nor slip unchecked code in, and a
 * replaced file is a new module beside the old one. Libraries stay mapped until the hub exits.
 *
 * Checks, in this order; the first that fails names itself, what was found and what was wanted: no
 * earlier folder has the name; the folder and the file are owned by root or this user and not
 * writable by others, nor by a group (but the owner's own one, which nobody else is in), and so is
 * everything above the folder (but sticky folders like /tmp) and whatever symbolic links lead to;
 * an ELF shared object of this machine, complete, with sound tables and without zeros for code; all
 * its symbols resolve (dlopen RTLD_NOW | RTLD_LOCAL); the symbol patchbay_plugin_v1; magic; ABI major; abi_min not newer than this hub;
 * struct_size at least that of 1.0; create, call and destroy present; name well-formed and equal to
 * the file's (hello.so is "hello"); version present; config_schema_json compiles. Constructors of
 * the library run when it is linked, before the checks that follow.
 *
 * While the folders are watched, a file is linked in a child first (plugin_trial.h); the loop goes
 * on, unless somebody asks for a scan. One that crashes there is refused, and the hub lives.
 *
 * A file counts as changed when its bytes did. If the new bytes are refused, the module of the old
 * ones stays the newest of its name, and the refusal is listed.
 *
 * Files: resolver.c (folders, names, changes), module_list.c (why a name is not there),
 * plugin_check.c, plugin_dynamic.c and plugin_code.c (the checks), plugin_trial.c and
 * plugin_tryout.c (the child), plugin_owner.c (whose a group is), plugin_image.c (copy and dlopen),
 * plugin_watch.c (inotify).
 *
 * Thread: [loop]. Scanning and loading read the disk: at start-up, and when a folder changes.
 */
#ifndef HUB_MODULES_RESOLVER_H
#define HUB_MODULES_RESOLVER_H

#include "base/err.h"
#include "tools/schema.h"

#include <ev.h>

/* A loaded plugin. Immutable; lives until hub_resolver_destroy. */
typedef struct hub_module {
    const char *name;
    const char *path;                /* where it was found */
    const patchbay_plugin *table;    /* checked; reads beyond 1.0 go through PATCHBAY_HAS */
    const hub_schema *config_schema; /* NULL: takes no config */
    unsigned generation;             /* 1 for the first of its name, then counting up */
    uint64_t hash;                   /* of the file's bytes */
    int64_t loaded_ms;               /* when they were read, since 1970 */
    bool is_outside; /* not linked into this process, or not yet: the table has the name, and
                      * nothing to call */
} hub_module;

/* A file or a folder that was refused, for `patchbay list modules` and `check`. */
typedef struct hub_refusal {
    const char *path;
    const char *reason;
} hub_refusal;

/* A folder that is looked through. */
typedef struct hub_module_folder {
    char *path;
    char *reason; /* of its refusal: nothing in it is looked at; NULL: fine */
    bool is_missing;
} hub_module_folder;

typedef struct hub_resolver hub_resolver;

typedef enum hub_module_change {
    HUB_MODULE_ADDED,
    HUB_MODULE_REPLACED,
    HUB_MODULE_REMOVED, /* the file is gone; the module stays usable, new toolsets cannot have it */
} hub_module_change;

/* Called from the loop after a change on disk has been loaded; once per name, in order of name.
 * `module` is the newest of its name, or the one that was removed. It must not destroy the resolver
 * or scan again. */
typedef void hub_resolver_on_change(void *ctx, const hub_module *module, hub_module_change change);

/* A resolver over absolute folder paths (copied), looked at in this order; the first folder from
 * which a name was loaded has it, a later one is refused as taken. A folder that does not exist is
 * noted in the log and watched for; one that cannot be trusted or read is listed as a refusal
 * itself. `allow_writable` skips the owner and mode checks. owns:    *ret_resolver, destroy it with
 * hub_resolver_destroy errors:  HUB_ENOMEM, HUB_EINVAL (a path is not absolute) */
HUB_MUST_CHECK hub_err hub_resolver_create(const char *const *folders, size_t count,
                                           bool allow_writable, hub_resolver **ret_resolver,
                                           hub_error *reterr);

/* Look into the installation's own folders, too, behind all others: what has a name there that was loaded
 * before is not meant, and no refusal. Before the first scan. errors:  as hub_resolver_create */
HUB_MUST_CHECK hub_err hub_resolver_add_own(hub_resolver *resolver, const char *const *folders,
                                            size_t count, hub_error *reterr);

/* Say which modules are not linked when they are found, because they run in processes of their own,
 * or because nobody wants them yet: their files are checked up to the point where they would be
 * linked. A module that was linked before stays so. `is_outside` (NULL: none is) is asked at each
 * scan. */
void hub_resolver_keep_outside(hub_resolver *resolver,
                               bool (*is_outside)(const void *ctx, hub_str name), const void *ctx);

/* Call `before_link` (NULL: nobody) with the path of each file whose code is about to be run. */
void hub_resolver_announce(hub_resolver *resolver, void (*before_link)(const char *path));

/* Link a module that was kept outside: it becomes another one, the newest of its name.
 * errors:  as hub_resolver_load_file; the module stays as it was */
HUB_MUST_CHECK hub_err hub_resolver_link(hub_resolver *resolver, const hub_module *module,
                                         const hub_module **ret_module, hub_error *reterr);

/* Load one file and make it the only module, in a resolver without folders.
 * errors:  as hub_resolver_load_file */
HUB_MUST_CHECK hub_err hub_resolver_offer_file(hub_resolver *resolver, const char *path,
                                               hub_error *reterr);

/* Stops watching and frees everything but the mapped libraries. NULL is fine. */
void hub_resolver_destroy(hub_resolver *resolver);

/* Look through the folders, their files (*.so, but no dot files) sorted by name, and load what is
 * new. Refusals are logged as "resolver.refused" when they are new, and kept; the hub goes on. If
 * changes are to be reported, they are before it returns.
 * blocks:  reads what is new, runs constructors */
void hub_resolver_scan(hub_resolver *resolver);

/* Have scans report from now on what has changed. */
void hub_resolver_report(hub_resolver *resolver, hub_resolver_on_change *on_change, void *ctx);

/* Watch the folders (inotify): files that appear, are renamed in, rewritten or removed. A file is
 * loaded when it was closed after writing or moved in; changes are debounced by 50 ms.
 * A first look follows at once, for what changed since the last scan.
 * errors:  HUB_ESYSTEM (no inotify; the resolver works without) */
HUB_MUST_CHECK hub_err hub_resolver_watch(hub_resolver *resolver, struct ev_loop *loop,
                                          hub_resolver_on_change *on_change, void *ctx,
                                          hub_error *reterr);

/* The newest module of that name; NULL when there is none, or its file is gone. */
const hub_module *hub_resolver_find(const hub_resolver *resolver, hub_str name);

/* All newest modules, sorted by name; borrowed until the next change. */
const hub_module *const *hub_resolver_modules(const hub_resolver *resolver, size_t *ret_count);

/* All refusals, sorted by path; borrowed until the next change. */
const hub_refusal *hub_resolver_refusals(const hub_resolver *resolver, size_t *ret_count);

/* Why the file of that name, in the first folder that has one, is not what a module runs from; NULL:
 * it is, or there is no such file. Both texts are borrowed until the next change. */
const char *hub_resolver_why_refused(const hub_resolver *resolver, hub_str name,
                                     const char **ret_path);

/* The folders, in their order, as they were at the last scan; borrowed until the next. */
const hub_module_folder *hub_resolver_folders(const hub_resolver *resolver, size_t *ret_count);

/* Check and load one file outside of any folder, for `patchbay module inspect FILE.so`. Its name
 * may be taken; it is in no list, and hub_resolver_find does not see it. owns:    nothing;
 * *ret_module lives until hub_resolver_destroy errors:  HUB_EDENIED, HUB_EABI, HUB_EPARSE,
 * HUB_EINVAL, HUB_ESYSTEM, HUB_ENOMEM; the text is the reason, without the path */
HUB_MUST_CHECK hub_err hub_resolver_load_file(hub_resolver *resolver, const char *path,
                                              const hub_module **ret_module, hub_error *reterr);

#endif
