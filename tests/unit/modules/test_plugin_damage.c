/* SPDX-License-Identifier: Apache-2.0 */
/* Plugin files that are damaged: a copy that is under way, a full disk, a block of zeros. The hub
 * lives, whatever is in the file. */
#include "resolver_support.h"

#include "modules/plugin_check.h"
#include "modules/plugin_code.h"
#include "modules/plugin_load.h"
#include "modules/plugin_trial.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZERS 1 /* their own constructors crash of a table with zeros in it */
#else
#define HAS_SANITIZERS 0
#endif

typedef struct tally {
    size_t refused; /* before anything was linked */
    size_t crashed; /* in the child */
    size_t fine;
} tally;

static hub_plugin_image image_of(const char *bytes, size_t size)
{
    hub_plugin_image image;
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(hub_plugin_image_init(&image, fd, "damaged", NULL), HUB_OK);
    (void)close(fd);
    return image;
}

static hub_err try_with(const hub_plugin_image *image, const char *where,
                        hub_plugin_trial_work *work, hub_error *why)
{
    hub_plugin_trial *trial = NULL;
    assert_int_equal(hub_plugin_trial_start(image, where, work, &trial, why), HUB_OK);
    hub_plugin_trial_await(trial);
    return hub_plugin_trial_end(trial, why);
}

/* What becomes of the bytes: refused as they are, or tried. */
static void see(const char *bytes, size_t size, const char *where, tally *t)
{
    hub_error why = {.text = ""};
    if (hub_plugin_check_elf((const unsigned char *)bytes, size, &why) != HUB_OK) {
        assert_true(why.text[0] != '\0');
        t->refused++;
        return;
    }
    hub_plugin_image image = image_of(bytes, size);
    hub_err err = try_with(&image, where, hub_plugin_try, &why);
    hub_plugin_image_fini(&image);
    bool has_crashed = err != HUB_OK && (strstr(why.text, "crashes") != NULL ||
                                         strstr(why.text, "ends the process") != NULL ||
                                         strstr(why.text, "does not come to an end") != NULL);
    t->crashed += has_crashed;
    t->fine += !has_crashed;
}

/* Zeros in place of each block of that size; and of all that follows. */
static tally zero_blocks(const char *file, const char *where, size_t block, size_t most)
{
    size_t size;
    char *bytes = read_whole(file, &size);
    char *damaged = malloc(size);
    tally t = {0};
    assert_non_null(damaged);
    for (size_t at = 0; at < size && at < most; at += block) {
        size_t len = size - at < block ? size - at : block;
        memcpy(damaged, bytes, size);
        memset(damaged + at, 0, len);
        see(damaged, size, where, &t);
        memset(damaged + at, 0, size - at);
        see(damaged, size, where, &t);
    }
    free(damaged);
    free(bytes);
    return t;
}

static void test_blocks_of_zeros(void **state)
{
    static const struct {
        const char *file;
        const char *where;
        size_t block;
        size_t most;
    } CASES[] = {
        {ABI_PLUGIN_DIR "/" GOOD_NAME ".so", "/p/" GOOD_NAME ".so", 4096, SIZE_MAX},
        {ABI_PLUGIN_DIR "/" GOOD_NAME ".so", "/p/" GOOD_NAME ".so", 512, SIZE_MAX},
        {TIME_PLUGIN, "/p/time.so", 4096, 1024 * 1024},
        {TIME_PLUGIN, "/p/time.so", 512, HAS_SANITIZERS ? 0 : SIZE_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        tally whole = {0};
        size_t size;
        char *bytes = read_whole(CASES[i].file, &size);
        see(bytes, size, CASES[i].where, &whole);
        free(bytes);
        assert_int_equal(whole.fine, 1);
        tally t = zero_blocks(CASES[i].file, CASES[i].where, CASES[i].block, CASES[i].most);
        print_message("%zu: %zu refused, %zu crashed, %zu fine\n", CASES[i].block, t.refused,
                      t.crashed, t.fine);
        assert_true(HAS_SANITIZERS || t.crashed == 0);
        assert_true(CASES[i].most == 0 || t.refused > 0);
    }
}

/* The bytes of the longest section of code. */
static unsigned char *longest_code(char *bytes, size_t *ret_len)
{
    ElfW(Ehdr) header;
    unsigned char *code = NULL;
    memcpy(&header, bytes, sizeof header);
    *ret_len = 0;
    for (size_t i = 0; i < header.e_shnum; i++) {
        ElfW(Shdr) section;
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if ((section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_size > *ret_len) {
            code = (unsigned char *)bytes + section.sh_offset;
            *ret_len = section.sh_size;
        }
    }
    return code;
}

/* How many zeros in a row are damage: each machine's linkers leave others between functions. */
static void test_holes_of_machines(void **state)
{
    static const struct {
        uint16_t machine;
        size_t hole;
        hub_err err;
    } CASES[] = {
        {EM_X86_64, 96, HUB_OK},
        {EM_X86_64, 128, HUB_EPARSE},
        {EM_AARCH64, 4080, HUB_OK},
        {EM_AARCH64, 4096, HUB_EPARSE},
    };
    size_t size;
    size_t len;
    char *bytes = read_whole(TIME_PLUGIN, &size);
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)bytes;
    unsigned char *hole = longest_code(bytes, &len) + 1024;
    unsigned char before[4098];
    (void)state;
    assert_true(len > 1024 + sizeof before);
    memcpy(before, hole, sizeof before);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        memset(hole, 1, sizeof before);
        memset(hole + 1, 0, CASES[i].hole);
        header->e_machine = CASES[i].machine;
        hub_error why;
        assert_int_equal(hub_plugin_check_code((unsigned char *)bytes, size, &why), CASES[i].err);
        memcpy(hole, before, sizeof before);
    }
    free(bytes);
}

/* Bits that are others, in the headers and in what the dynamic section leads to: the child may
 * crash, and nobody else. */
static void test_other_bits(void **state)
{
    enum { ROUNDS = HAS_SANITIZERS ? 150 : 1500 };
    size_t size;
    char *bytes = read_whole(ABI_PLUGIN_DIR "/" GOOD_NAME ".so", &size);
    uint32_t seed = 11;
    tally t = {0};
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525u + 1013904223u;
        size_t at = (seed >> 8) % (round % 2 == 0 ? 2048 : size);
        char before = bytes[at];
        bytes[at] = (char)(before ^ (char)(1 << round % 8));
        see(bytes, size, "/p/" GOOD_NAME ".so", &t);
        bytes[at] = before;
    }
    print_message("%zu refused, %zu crashed, %zu fine\n", t.refused, t.crashed, t.fine);
    assert_true(t.refused > 0 && t.fine > 0);
    free(bytes);
}

/* ---- the trial ------------------------------------------------------------------------------- */

static hub_err crash(const hub_plugin_image *image, const char *where, hub_error *reterr)
{
    (void)image;
    (void)where;
    (void)reterr;
    (void)raise(SIGSEGV);
    return HUB_OK;
}

static hub_err leave(const hub_plugin_image *image, const char *where, hub_error *reterr)
{
    (void)image;
    (void)where;
    (void)reterr;
    _exit(7);
}

static hub_err hang(const hub_plugin_image *image, const char *where, hub_error *reterr)
{
    (void)image;
    (void)where;
    (void)reterr;
    (void)pause();
    return HUB_OK;
}

/* All that it has open is the image, and what leads nowhere. */
static hub_err count_open(const hub_plugin_image *image, const char *where, hub_error *reterr)
{
    int open_count = 0;
    (void)where;
    for (int fd = 0; fd < 1024; fd++) {
        open_count += fcntl(fd, F_GETFD) >= 0;
    }
    return open_count <= 4 && fcntl(image->fd, F_GETFD) >= 0
               ? hub_fail(reterr, HUB_EINVAL, "as it should be")
               : HUB_OK;
}

static void test_trials(void **state)
{
    static const struct {
        hub_plugin_trial_work *work;
        const char *why;
    } CASES[] = {
        {crash, "linking it crashes (SIGSEGV)"},
        {leave, "linking it ends the process, with status 7"},
        {count_open, "as it should be"},
    };
    hub_plugin_image image = image_of("x", 1);
    hub_error why;
    int others[32];
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        others[i] = dup(2);
    }
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(try_with(&image, "/p/x.so", CASES[i].work, &why), HUB_EABI);
        assert_memory_equal(why.text, CASES[i].why, strlen(CASES[i].why));
    }
    hub_plugin_trial *trial = NULL;
    assert_int_equal(hub_plugin_trial_start(&image, "/p/x.so", hang, &trial, &why), HUB_OK);
    assert_int_equal(hub_plugin_trial_end(trial, &why), HUB_EABI);
    assert_non_null(strstr(why.text, "does not come to an end within 5000 ms"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        (void)close(others[i]);
    }
    hub_plugin_image_fini(&image);
}

/* ---- in a folder that is watched ------------------------------------------------------------- */

/* Where the file has what is at `address` in memory: linkers put it elsewhere. */
static size_t offset_of(const char *bytes, const ElfW(Ehdr) * header, ElfW(Addr) address)
{
    for (size_t i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz) {
            return (size_t)(segment.p_offset + (address - segment.p_vaddr));
        }
    }
    fail_msg("no segment has address %#zx", (size_t)address);
    return 0;
}

/* A plugin whose first function is an instruction that there is not: nothing is wrong with its
 * tables. */
static void write_crashing(const char *folder, const char *name)
{
    char file[80];
    size_t size;
    (void)snprintf(file, sizeof file, "%s.so", name);
    path to = join(folder, file);
    char *bytes = plugin_bytes(name, FIRST, &size);
    ElfW(Ehdr) header;
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        for (size_t at = 0; segment.p_type == PT_DYNAMIC && at < segment.p_filesz;
             at += sizeof(ElfW(Dyn))) {
            ElfW(Dyn) entry;
            memcpy(&entry, bytes + segment.p_offset + at, sizeof entry);
            if (entry.d_tag == DT_INIT) {
                memcpy(bytes + offset_of(bytes, &header, entry.d_un.d_ptr), "\x0f\x0b\x00\x00", 4);
            }
        }
    }
    write_whole(to.text, bytes, size, 0644);
    free(bytes);
}

static void await_refusals(fixture *f, size_t count)
{
    while (count_logged(f, "resolver.refused") < count) {
        (void)ev_run(f->loop, EVRUN_ONCE);
    }
}

/* Whatever is dropped in, in whatever order, the good ones come, and the bad ones are refused once
 * for each time that something happens. */
static void test_crash_while_watching(void **state)
{
    fixture *f = *state;
    create_and_watch(f);
    write_crashing(f->first.text, "aaaaa_001");
    write_crashing(f->first.text, "aaaab_001");
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    write_crashing(f->first.text, "zzzzz_001");
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    await_refusals(f, 3);
    assert_int_equal(count_refusals(f), 3);
    assert_non_null(strstr(reason_of(f, join(f->first.text, "aaaaa_001.so").text), "crashes (SIG"));
    /* A version that crashes leaves the one before. */
    write_crashing(f->first.text, ALPHA);
    await_refusals(f, 4);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    /* … and the next one takes its place. */
    (void)write_plugin(f->first.text, ALPHA, SECOND);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, SECOND);
    assert_int_equal(count_refusals(f), 3);
}

/* Somebody who asks for a look gets the outcome, though a trial is under way. */
static void test_asked_meanwhile(void **state)
{
    fixture *f = *state;
    create_and_watch(f);
    write_crashing(f->first.text, "aaaaa_001");
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    while (count_logged(f, "resolver.refused") == 0 && f->count == 0) {
        (void)ev_run(f->loop, EVRUN_ONCE);
        hub_resolver_scan(f->resolver);
    }
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_int_equal(count_refusals(f), 1);
}

/* The resolver goes, or the file does, while it is tried. */
static void test_gone_meanwhile(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 20; i++) {
        create_and_watch(f);
        path file = write_plugin(f->first.text, ALPHA, FIRST);
        for (int turns = i; turns > 0; turns--) {
            (void)ev_run(f->loop, EVRUN_NOWAIT);
        }
        assert_int_equal(unlink(file.text), 0);
        hub_resolver_scan(f->resolver);
        assert_null(hub_resolver_find(f->resolver, HUB_STR(ALPHA)));
        hub_resolver_destroy(f->resolver);
        f->resolver = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_zeros),   cmocka_unit_test(test_holes_of_machines),
        cmocka_unit_test(test_other_bits),        cmocka_unit_test(test_trials),
        RESOLVER_TEST(test_crash_while_watching), RESOLVER_TEST(test_asked_meanwhile),
        RESOLVER_TEST(test_gone_meanwhile),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
