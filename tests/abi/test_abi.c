/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin ABI from the outside: files as third parties may build or damage them, each through
 * the resolver. The hub stays up, the good plugin beside them works, and each refusal is one exact
 * line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/plugin_files.h"
#include "base/log.h"
#include "modules/resolver.h"

#include <elf.h> /* last: its EV_NONE would break libev's */

enum { GUARD_SECONDS = 120, TRUNCATIONS = 10, LOG_BYTES = 16384 };

/* Built plugins with one defect, and the reason. A reason that ends with '*' is a beginning. */
static const struct {
    const char *name;
    const char *reason;
} DEFECTS[] = {
    {"bad_no_symbol", "no symbol patchbay_plugin_v1: not a Patchbay plugin"},
    {"bad_unresolved", "cannot be linked: undefined symbol: patchbay_test_no_such_function"},
    {"bad_magic", "magic is 0x50414259, wanted 0x59414250"},
    {"bad_major", "built for ABI 2.3, this hub has 1.0: build it with the headers of this hub"},
    {"bad_too_new",
     "needs ABI 1.7 or newer, this hub has 1.0: build it with the headers of this hub"},
    {"bad_needs_newer",
     "needs ABI 1.1 or newer, this hub has 1.0: build it with the headers of this hub"},
    {"bad_too_small", "struct_size is 40, wanted at least 88"},
    {"bad_no_create", "entry create is missing"},
    {"bad_no_call", "entry call is missing"},
    {"bad_no_destroy", "entry destroy is missing"},
    {"bad_no_name", "name is missing"},
    {"bad_ill_name", "name is \"Ill ?[31m\", wanted [a-z][a-z0-9_-]{0,63}"},
    {"bad_wrong_name", "name is \"something_else\", wanted \"bad_wrong_name\" as the file says"},
    {"bad_no_version", "version is missing"},
    {"bad_config_json", "config_schema_json: *"},
    {"bad_config_schema", "config_schema_json: *"},
};

/* Copies of the good plugin with other bytes at one place of the ELF header. */
static const struct {
    const char *name;
    size_t offset;
    unsigned char byte;
    const char *reason;
} PATCHES[] = {
    {"elf_magic", 0, 'X', "not a shared object: no ELF header"},
    {"elf_class", EI_CLASS, ELFCLASS32, "not for this machine: 32-bit, wanted 64-bit"},
    {"elf_order", EI_DATA, ELFDATA2MSB, "not for this machine: big-endian, wanted little-endian"},
    {"elf_type", offsetof(Elf64_Ehdr, e_type), ET_REL, "not a shared object: ELF type 1, wanted 3"},
    {"elf_entry", offsetof(Elf64_Ehdr, e_phentsize), 32,
     "damaged: program headers of 32 bytes, wanted 56"},
    {"elf_none", offsetof(Elf64_Ehdr, e_phnum), 0, "not a shared object: no dynamic section"},
};

static struct {
    char text[LOG_BYTES];
    size_t len;
} logged;

static void keep_line(void *ctx, hub_str line)
{
    (void)ctx;
    assert_true(logged.len + line.len < sizeof logged.text);
    memcpy(logged.text + logged.len, line.ptr, line.len);
    logged.len += line.len;
}

static size_t count_refused_lines(void)
{
    size_t count = 0;
    logged.text[logged.len] = '\0';
    for (const char *at = logged.text; (at = strstr(at, " warning resolver.refused path=")) != NULL;
         at++) {
        count++;
    }
    return count;
}

static const char *reason_of(const hub_resolver *resolver, const char *file)
{
    size_t count;
    const hub_refusal *refusals = hub_resolver_refusals(resolver, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(refusals[i].path, file) == 0) {
            return refusals[i].reason;
        }
    }
    return "(not refused)";
}

static void assert_reason(const hub_resolver *resolver, const char *file, const char *wanted)
{
    const char *reason = reason_of(resolver, file);
    size_t len = strlen(wanted);
    if (wanted[len - 1] == '*') {
        assert_true(strlen(reason) > len && strncmp(reason, wanted, len - 1) == 0);
    } else {
        assert_string_equal(reason, wanted);
    }
}

static hub_resolver *scan(const char *const *folders, size_t count)
{
    hub_resolver *resolver = NULL;
    logged.len = 0;
    assert_int_equal(hub_resolver_create(folders, count, false, &resolver, NULL), HUB_OK);
    hub_resolver_scan(resolver);
    return resolver;
}

static path copy_built(const char *name, const char *folder)
{
    char file[80];
    size_t size;
    (void)snprintf(file, sizeof file, "%s.so", name);
    path to = join(folder, file);
    char *bytes = read_whole(join(ABI_PLUGIN_DIR, file).text, &size);
    write_whole(to.text, bytes, size, 0644);
    free(bytes);
    return to;
}

static void loads_the_plugin_of_1_0(void **state)
{
    (void)state;
    path folder = make_scratch();
    path file = copy_built(GOOD_NAME, folder.text);
    hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
    const hub_module *module = hub_resolver_find(resolver, HUB_STR(GOOD_NAME));
    assert_non_null(module);
    assert_string_equal(module->path, file.text);
    assert_string_equal(module->table->version, GOOD_VERSION);
    assert_int_equal(module->table->abi, PATCHBAY_ABI_VERSION(1, 0));
    assert_int_equal(module->generation, 1);
    assert_non_null(module->config_schema);
    void *inst = &file;
    assert_int_equal(module->table->create(NULL, NULL, HUB_STR("{}"), &inst, NULL), PATCHBAY_OK);
    assert_null(inst);
    module->table->destroy(inst);
    hub_resolver_destroy(resolver);
    remove_tree(folder.text);
}

/* What a plugin was built with is no reason to refuse it; what it needs is. */
static void loads_a_plugin_of_newer_headers(void **state)
{
    (void)state;
    path folder = make_scratch();
    (void)copy_built("good_newer", folder.text);
    hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
    const hub_module *module = hub_resolver_find(resolver, HUB_STR("good_newer"));
    assert_non_null(module);
    assert_int_equal(module->table->abi, PATCHBAY_ABI_VERSION(1, 1));
    assert_int_equal(module->table->abi_min, PATCHBAY_ABI_VERSION(1, 0));
    hub_resolver_destroy(resolver);
    remove_tree(folder.text);
}

static void refuses_each_defect_with_its_reason(void **state)
{
    (void)state;
    enum { COUNT = sizeof DEFECTS / sizeof DEFECTS[0] };
    path folder = make_scratch();
    path files[COUNT];
    (void)copy_built(GOOD_NAME, folder.text);
    for (size_t i = 0; i < COUNT; i++) {
        files[i] = copy_built(DEFECTS[i].name, folder.text);
    }
    hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
    for (size_t i = 0; i < COUNT; i++) {
        assert_reason(resolver, files[i].text, DEFECTS[i].reason);
    }
    size_t modules;
    size_t refused;
    (void)hub_resolver_modules(resolver, &modules);
    (void)hub_resolver_refusals(resolver, &refused);
    assert_int_equal(modules, 1);
    assert_int_equal(refused, COUNT);
    assert_int_equal(count_refused_lines(), COUNT);

    hub_resolver_scan(resolver); /* the same again is no news */
    assert_int_equal(count_refused_lines(), COUNT);
    hub_resolver_destroy(resolver);
    remove_tree(folder.text);
}

static void refuses_damaged_headers(void **state)
{
    (void)state;
    path folder = make_scratch();
    for (size_t i = 0; i < sizeof PATCHES / sizeof PATCHES[0]; i++) {
        char name[32];
        size_t size;
        (void)snprintf(name, sizeof name, "%s.so", PATCHES[i].name);
        path file = join(folder.text, name);
        char *bytes = plugin_bytes(GOOD_NAME, GOOD_VERSION, &size);
        bytes[PATCHES[i].offset] = (char)PATCHES[i].byte;
        write_whole(file.text, bytes, size, 0644);
        free(bytes);
        hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
        assert_reason(resolver, file.text, PATCHES[i].reason);
        hub_resolver_destroy(resolver);
    }
    remove_tree(folder.text);
}

static void refuses_what_is_no_library(void **state)
{
    (void)state;
    static const char TEXT[] = "#!/bin/sh\necho this is a script, not a library\n";
    path folder = make_scratch();
    path empty = join(folder.text, "empty.so");
    path text = join(folder.text, "text.so");
    path program = join(folder.text, "program.so");
    size_t size;
    write_whole(empty.text, "", 0, 0644);
    write_whole(text.text, TEXT, sizeof TEXT - 1, 0644);
    char *bytes = read_whole("/bin/sh", &size);
    write_whole(program.text, bytes, size, 0644);
    free(bytes);
    hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
    assert_reason(resolver, empty.text, "not a shared object: the file is empty");
    assert_reason(resolver, text.text, "not a shared object: no ELF header");
    assert_reason(resolver, program.text,
                  "cannot be linked: cannot dynamically load position-independent executable");
    hub_resolver_destroy(resolver);
    remove_tree(folder.text);
}

/* Where the file ends makes no difference: mapping what is not there would kill the hub. */
static void refuses_truncated_files(void **state)
{
    (void)state;
    path folder = make_scratch();
    size_t size;
    char *bytes = plugin_bytes(GOOD_NAME, GOOD_VERSION, &size);
    size_t cuts[TRUNCATIONS] = {1, 15, 16, 63, 64, 200, size / 3, size / 2, size - 64, size - 1};
    for (size_t i = 0; i < TRUNCATIONS; i++) {
        char wanted[128];
        path file = join(folder.text, GOOD_NAME ".so");
        write_whole(file.text, bytes, cuts[i], 0644);
        hub_resolver *resolver = scan((const char *const[]){folder.text}, 1);
        (void)snprintf(wanted, sizeof wanted, "truncated: %zu bytes, wanted at least *", cuts[i]);
        assert_reason(resolver, file.text,
                      cuts[i] < EI_NIDENT ? "not a shared object: no ELF header" : wanted);
        assert_null(hub_resolver_find(resolver, HUB_STR(GOOD_NAME)));
        hub_resolver_destroy(resolver);
    }
    free(bytes);
    remove_tree(folder.text);
}

static void refuses_a_name_that_an_earlier_folder_has(void **state)
{
    (void)state;
    path scratch = make_scratch();
    path first = make_folder(scratch.text, "first");
    path second = make_folder(scratch.text, "second");
    path winner = copy_built(GOOD_NAME, first.text);
    path loser = copy_built(GOOD_NAME, second.text);
    hub_resolver *resolver = scan((const char *const[]){first.text, second.text}, 2);
    char wanted[2 * PATH_BYTES];
    (void)snprintf(wanted, sizeof wanted, "name \"" GOOD_NAME "\" is taken by %s", winner.text);
    assert_reason(resolver, loser.text, wanted);
    assert_string_equal(hub_resolver_find(resolver, HUB_STR(GOOD_NAME))->path, winner.text);
    hub_resolver_destroy(resolver);
    remove_tree(scratch.text);
}

/* In the installation's own folder a name may be another folder's: that one is meant. */
static void yields_a_name_of_the_installation(void **state)
{
    (void)state;
    path scratch = make_scratch();
    path named = make_folder(scratch.text, "named");
    path own = make_folder(scratch.text, "own");
    path winner = copy_built(GOOD_NAME, named.text);
    path yielded = copy_built(GOOD_NAME, own.text);
    (void)copy_built("good_newer", own.text);
    hub_resolver *resolver = scan((const char *const[]){named.text}, 1);
    assert_null(hub_resolver_find(resolver, HUB_STR("good_newer")));
    assert_int_equal(hub_resolver_add_own(resolver, (const char *const[]){own.text}, 1, NULL),
                     HUB_OK);
    hub_resolver_scan(resolver);
    assert_string_equal(hub_resolver_find(resolver, HUB_STR(GOOD_NAME))->path, winner.text);
    assert_non_null(hub_resolver_find(resolver, HUB_STR("good_newer")));
    assert_int_equal(count_refused_lines(), 0);
    assert_int_equal(unlink(winner.text), 0);
    hub_resolver_scan(resolver);
    assert_string_equal(hub_resolver_find(resolver, HUB_STR(GOOD_NAME))->path, yielded.text);
    hub_resolver_destroy(resolver);
    remove_tree(scratch.text);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        cmocka_unit_test(loads_the_plugin_of_1_0),
        cmocka_unit_test(loads_a_plugin_of_newer_headers),
        cmocka_unit_test(refuses_each_defect_with_its_reason),
        cmocka_unit_test(refuses_damaged_headers),
        cmocka_unit_test(refuses_what_is_no_library),
        cmocka_unit_test(refuses_truncated_files),
        cmocka_unit_test(refuses_a_name_that_an_earlier_folder_has),
        cmocka_unit_test(yields_a_name_of_the_installation),
    };
    (void)alarm(GUARD_SECONDS);
    hub_log_capture(keep_line, NULL);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
