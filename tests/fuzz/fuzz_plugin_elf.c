/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of a plugin file before it is linked: no byte outside of the file is read, and a refusal
 * has a reason. Also of a sound file, the guard that it is built with, in which bytes are replaced.
 * Input: a file; or triples of offset (two bytes) and value, as changes.
 */
#include "modules/plugin_check.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MADE_BYTES = 2048 };

static void check(const unsigned char *bytes, size_t size)
{
    hub_error why = {.text = ""};
    unsigned char *copy = malloc(size + (size == 0)); /* so that each byte too many is seen */
    REQUIRE(copy != NULL);
    memcpy(copy, bytes, size);
    hub_err err = hub_plugin_check_elf(copy, size, &why);
    REQUIRE(err == HUB_OK || (err == why.code && why.text[0] != '\0'));
    free(copy);
}

/* A file with all the tables that are followed, each small. */
static void make(unsigned char *to)
{
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    ElfW(Ehdr) header = __ehdr_start;
    header.e_type = ET_DYN;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(ElfW(Phdr));
    header.e_phnum = 2;
    header.e_shoff = 0;
    header.e_shnum = 0;
    const ElfW(Phdr) segments[2] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_W | PF_X,
         .p_filesz = MADE_BYTES,
         .p_memsz = MADE_BYTES,
         .p_align = 4096},
        {.p_type = PT_DYNAMIC, .p_offset = 512, .p_vaddr = 512, .p_filesz = 256, .p_memsz = 256},
    };
    const ElfW(Dyn) dynamic[] = {
        {.d_tag = DT_STRTAB, .d_un.d_ptr = 1024},
        {.d_tag = DT_STRSZ, .d_un.d_val = 16},
        {.d_tag = DT_SYMTAB, .d_un.d_ptr = 1040},
        {.d_tag = DT_SYMENT, .d_un.d_val = 24},
        {.d_tag = DT_GNU_HASH, .d_un.d_ptr = 1104},
        {.d_tag = DT_RELA, .d_un.d_ptr = 1200},
        {.d_tag = DT_RELASZ, .d_un.d_val = 48},
        {.d_tag = DT_INIT_ARRAY, .d_un.d_ptr = 1800},
        {.d_tag = DT_INIT_ARRAYSZ, .d_un.d_val = 8},
        {.d_tag = DT_VERSYM, .d_un.d_ptr = 1300},
        {.d_tag = DT_VERNEED, .d_un.d_ptr = 1312},
        {.d_tag = DT_VERNEEDNUM, .d_un.d_val = 1},
        {.d_tag = DT_NULL},
    };
    const ElfW(Sym) symbol = {.st_name = 1, .st_info = 0x12, .st_shndx = 1, .st_value = 1700};
    const uint32_t hash[] = {1, 1, 1, 0, 0, 0, 1, 1}; /* one bucket, one filter, one chain */
    const ElfW(Rela) moves[] = {{.r_offset = 1800, .r_info = 8, .r_addend = 1700},
                                {.r_offset = 1808, .r_info = (uint64_t)1 << 32 | 1}};
    const ElfW(Verneed) need = {.vn_version = 1, .vn_cnt = 1, .vn_file = 1, .vn_aux = 16};
    const ElfW(Vernaux) version = {.vna_other = 2, .vna_name = 3};
    memset(to, 'x', MADE_BYTES);
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, segments, sizeof segments);
    memcpy(to + 512, dynamic, sizeof dynamic);
    memcpy(to + 1024, "\0a\0bbbbbbbbbbbb", 16);
    memset(to + 1040, 0, sizeof symbol);
    memcpy(to + 1040 + sizeof symbol, &symbol, sizeof symbol);
    memcpy(to + 1104, hash, sizeof hash);
    memcpy(to + 1200, moves, sizeof moves);
    memcpy(to + 1300, "\0\0\2\0", 4);
    memcpy(to + 1312, &need, sizeof need);
    memcpy(to + 1312 + 16, &version, sizeof version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char made[MADE_BYTES];
    hub_error why = {.text = ""};
    check(data, size);
    make(made);
    REQUIRE(hub_plugin_check_elf(made, sizeof made, &why) == HUB_OK);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        made[(data[i] | data[i + 1] << 8) % MADE_BYTES] = data[i + 2];
    }
    check(made, sizeof made);
    return 0;
}
