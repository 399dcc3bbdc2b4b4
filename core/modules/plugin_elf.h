/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin's file as the dynamic linker would lay it out: its segments, what its dynamic section
 * says, and the bytes at an address. All of it is from the file, and not to be trusted. Only the
 * checks of it include this. */
#ifndef HUB_MODULES_PLUGIN_ELF_H
#define HUB_MODULES_PLUGIN_ELF_H

#include "base/err.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum {
    HUB_ELF_TAGS = DT_RELR + 1, /* those that are numbered from 0 */
    HUB_ELF_MOST_SEGMENTS = 64,
};

typedef struct hub_elf {
    const unsigned char *bytes;
    size_t size;
    ElfW(Ehdr) header;
    ElfW(Phdr) loads[HUB_ELF_MOST_SEGMENTS];
    size_t load_count;
    ElfW(Phdr) dynamic;
    uint64_t tags[HUB_ELF_TAGS];
    bool has[HUB_ELF_TAGS];
    uint64_t gnu_hash; /* 0: none; likewise below */
    uint64_t versym;
    uint64_t verneed;
    uint64_t verneed_count;
    uint64_t verdef;
    uint64_t verdef_count;
    bool writes_text;
    uint64_t symbol_count;
    unsigned version_max;
    uint64_t arrays_set[2]; /* entries of init_array and fini_array that a relocation sets */
    hub_error *reterr;
} hub_elf;

static inline hub_err hub_elf_damaged(const hub_elf *of, const char *what)
{
    return hub_fail(of->reterr, HUB_EPARSE, "damaged: %s", what);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The segment that has [address, address + len) in memory; `in_file`: in its part that is read
 * from the file. */
static inline const ElfW(Phdr) *
    hub_elf_segment(const hub_elf *of, uint64_t address, uint64_t len, bool in_file)
{
    for (size_t i = 0; i < of->load_count; i++) {
        const ElfW(Phdr) *load = &of->loads[i];
        uint64_t room = in_file ? load->p_filesz : load->p_memsz;
        if (address >= load->p_vaddr && address - load->p_vaddr <= room &&
            len <= room - (address - load->p_vaddr)) {
            return load;
        }
    }
    return NULL;
}

/* The bytes of the file at an address, or NULL. */
static inline const unsigned char *hub_elf_at(const hub_elf *of, uint64_t address, uint64_t len)
{
    const ElfW(Phdr) *load = hub_elf_segment(of, address, len, true);
    return load != NULL ? of->bytes + load->p_offset + (address - load->p_vaddr) : NULL;
}

/* A table of `count` entries; NULL also when the product does not exist. */
static inline const unsigned char *hub_elf_table_at(const hub_elf *of, uint64_t address,
                                                    uint64_t count, uint64_t entry_bytes)
{
    uint64_t len;
    return __builtin_mul_overflow(count, entry_bytes, &len) ? NULL : hub_elf_at(of, address, len);
}

static inline bool hub_elf_is_code(const hub_elf *of, uint64_t address)
{
    const ElfW(Phdr) *load = hub_elf_segment(of, address, 1, true);
    return load != NULL && (load->p_flags & PF_X) != 0;
}

static inline bool hub_elf_is_writable(const hub_elf *of, uint64_t address, uint64_t len)
{
    const ElfW(Phdr) *load = hub_elf_segment(of, address, len, false);
    return load != NULL && ((load->p_flags & PF_W) != 0 || of->writes_text);
}

static inline uint32_t hub_elf_word_at(const unsigned char *bytes, uint64_t index)
{
    uint32_t word;
    memcpy(&word, bytes + index * sizeof word, sizeof word);
    return word;
}

/* The versions of symbols (plugin_versions.c), when the symbols have been checked.
 * errors:  HUB_EPARSE */
HUB_MUST_CHECK hub_err hub_elf_check_versions(hub_elf *of);

#endif
