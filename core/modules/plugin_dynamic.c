/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_dynamic.h"

#include "modules/plugin_elf.h"

#if __ELF_NATIVE_CLASS == 64

/* ---- segments and the dynamic section -------------------------------------------------------- */

static hub_err read_segments(hub_elf *of)
{
    uint64_t end = 0;
    for (size_t i = 0; i < of->header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, of->bytes + of->header.e_phoff + i * sizeof segment, sizeof segment);
        uint64_t segment_end;
        if (segment.p_type == PT_DYNAMIC) {
            of->dynamic = segment;
        }
        if (segment.p_type != PT_LOAD) {
            continue;
        }
        if (of->load_count == HUB_ELF_MOST_SEGMENTS || segment.p_memsz < segment.p_filesz ||
            segment.p_vaddr < end ||
            __builtin_add_overflow(segment.p_vaddr, segment.p_memsz, &segment_end) ||
            segment_end > (uint64_t)1 << 40) {
            return hub_elf_damaged(of, "its segments overlap, or are out of order");
        }
        end = segment_end;
        of->loads[of->load_count++] = segment;
    }
    for (size_t i = 0; i < of->header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, of->bytes + of->header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_TLS &&
            (segment.p_memsz < segment.p_filesz ||
             hub_elf_segment(of, segment.p_vaddr, segment.p_filesz, true) == NULL)) {
            return hub_elf_damaged(of, "thread-local data outside of its segments");
        }
    }
    return of->load_count > 0 ? HUB_OK : hub_elf_damaged(of, "nothing in it is to be loaded");
}

static void note_tag(hub_elf *of, const ElfW(Dyn) * entry)
{
    uint64_t value = entry->d_un.d_val;
    if (entry->d_tag >= 0 && entry->d_tag < HUB_ELF_TAGS) {
        of->tags[entry->d_tag] = value;
        of->has[entry->d_tag] = true;
    }
    switch (entry->d_tag) {
    case DT_GNU_HASH:
        of->gnu_hash = value;
        break;
    case DT_VERSYM:
        of->versym = value;
        break;
    case DT_VERNEED:
        of->verneed = value;
        break;
    case DT_VERNEEDNUM:
        of->verneed_count = value;
        break;
    case DT_VERDEF:
        of->verdef = value;
        break;
    case DT_VERDEFNUM:
        of->verdef_count = value;
        break;
    default:
        break;
    }
}

/* Tags that name a text: all that the loader reads. */
static bool is_name(int64_t tag)
{
    return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH;
}

/* Whether the section's entries name texts that are there. */
static bool has_its_names(const hub_elf *of, const unsigned char *entries, uint64_t count,
                          const unsigned char *names)
{
    ElfW(Dyn) entry;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&entry, entries + i * sizeof entry, sizeof entry);
        if (entry.d_tag == DT_NULL) {
            break;
        }
        if (is_name(entry.d_tag) &&
            (entry.d_un.d_val >= of->tags[DT_STRSZ] || names[entry.d_un.d_val] == '\0')) {
            return false;
        }
    }
    return true;
}

/* What the loader finds symbols by, and the size of them that this code reads. */
static bool has_symbols(const hub_elf *of)
{
    return of->has[DT_STRTAB] && of->has[DT_STRSZ] && of->has[DT_SYMTAB] &&
           of->tags[DT_SYMENT] == sizeof(ElfW(Sym)) && (of->gnu_hash != 0 || of->has[DT_HASH]);
}

static hub_err read_dynamic(hub_elf *of)
{
    ElfW(Dyn) entry = {.d_tag = DT_NULL};
    uint64_t count = of->dynamic.p_filesz / sizeof entry;
    const unsigned char *entries = hub_elf_table_at(of, of->dynamic.p_vaddr, count, sizeof entry);
    bool has_end = false;
    for (uint64_t i = 0; entries != NULL && i < count && !has_end; i++) {
        memcpy(&entry, entries + i * sizeof entry, sizeof entry);
        note_tag(of, &entry);
        has_end = entry.d_tag == DT_NULL;
    }
    if (!has_end) {
        return hub_elf_damaged(of, "its dynamic section has no end");
    }
    if (!has_symbols(of)) {
        return hub_elf_damaged(
            of, "its dynamic section lacks symbols, their names or their hash table");
    }
    const unsigned char *names = hub_elf_at(of, of->tags[DT_STRTAB], of->tags[DT_STRSZ]);
    if (names == NULL || of->tags[DT_STRSZ] == 0 || names[of->tags[DT_STRSZ] - 1] != '\0') {
        return hub_elf_damaged(of, "the names of its symbols are not all there");
    }
    if (!has_its_names(of, entries, count, names)) {
        return hub_elf_damaged(of, "the name of a library that it needs is missing");
    }
    of->writes_text =
        of->has[DT_TEXTREL] || (of->has[DT_FLAGS] && (of->tags[DT_FLAGS] & DF_TEXTREL) != 0);
    return HUB_OK;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The number of symbols: the one behind the end of the chain that `last` is in, of chains that begin
 * with `first`; without a chain (`last` is 0) that one. Zero: it has no end. */
static uint64_t find_chain_end(const hub_elf *of, uint64_t chains, uint64_t first, uint64_t last)
{
    if (last == 0) {
        return first;
    }
    for (;; last++) {
        const unsigned char *link = hub_elf_at(of, chains + (last - first) * sizeof(uint32_t), 4);
        if (link == NULL || (hub_elf_word_at(link, 0) & 1) != 0) {
            return link != NULL ? last + 1 : 0;
        }
    }
}

/* Buckets, a Bloom filter, and chains, of which the last entry is odd. The number of symbols is
 * where the last chain ends. */
static hub_err check_gnu_hash(hub_elf *of)
{
    static const char what[] = "the hash table of its symbols";
    const unsigned char *head = hub_elf_at(of, of->gnu_hash, 4 * sizeof(uint32_t));
    uint32_t buckets = head != NULL ? hub_elf_word_at(head, 0) : 0;
    uint32_t first = head != NULL ? hub_elf_word_at(head, 1) : 0;
    uint32_t filters = head != NULL ? hub_elf_word_at(head, 2) : 0;
    uint64_t offset = of->gnu_hash + 4 * sizeof(uint32_t) + filters * sizeof(uint64_t);
    const unsigned char *bucket = hub_elf_table_at(of, offset, buckets, sizeof(uint32_t));
    if (bucket == NULL || buckets == 0 || filters == 0 || (filters & (filters - 1)) != 0 ||
        hub_elf_table_at(of, of->gnu_hash, filters, sizeof(uint64_t)) == NULL) {
        return hub_elf_damaged(of, what);
    }
    uint64_t last = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t symbol = hub_elf_word_at(bucket, i);
        if (symbol != 0 && symbol < first) {
            return hub_elf_damaged(of, what);
        }
        last = symbol > last ? symbol : last;
    }
    of->symbol_count = find_chain_end(of, offset + buckets * sizeof(uint32_t), first, last);
    return last == 0 || of->symbol_count != 0 ? HUB_OK : hub_elf_damaged(of, what);
}

/* Buckets and chains of indices that end with 0; a chain that comes back to itself has no end. */
static hub_err check_old_hash(hub_elf *of)
{
    static const char what[] = "the hash table of its symbols";
    const unsigned char *head = hub_elf_at(of, of->tags[DT_HASH], 2 * sizeof(uint32_t));
    uint32_t buckets = head != NULL ? hub_elf_word_at(head, 0) : 0;
    uint32_t count = head != NULL ? hub_elf_word_at(head, 1) : 0;
    const unsigned char *words =
        hub_elf_table_at(of, of->tags[DT_HASH], 2 + (uint64_t)buckets + count, sizeof(uint32_t));
    uint64_t steps = 0;
    if (words == NULL || buckets == 0) {
        return hub_elf_damaged(of, what);
    }
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t symbol = hub_elf_word_at(words, 2 + i);
        while (symbol != 0) {
            if (symbol >= count || ++steps > count) {
                return hub_elf_damaged(of, what);
            }
            symbol = hub_elf_word_at(words, 2 + (uint64_t)buckets + symbol);
        }
    }
    of->symbol_count = count;
    return HUB_OK;
}

/* A symbol, which need not be one that the hash table knows: those that are only needed are not. */
static hub_err check_symbol(const hub_elf *of, uint64_t index)
{
    static const ElfW(Sym) nothing;
    ElfW(Sym) symbol;
    uint64_t offset;
    const unsigned char *bytes = NULL;
    if (!__builtin_mul_overflow(index, sizeof symbol, &offset)) {
        bytes = hub_elf_at(of, of->tags[DT_SYMTAB] + offset, sizeof symbol);
    }
    if (bytes == NULL) {
        return hub_elf_damaged(of, "a symbol is outside of the file");
    }
    memcpy(&symbol, bytes, sizeof symbol);
    if (symbol.st_name >= of->tags[DT_STRSZ] || memcmp(&symbol, &nothing, sizeof symbol) == 0) {
        return hub_elf_damaged(of, "a symbol has no name");
    }
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC && symbol.st_shndx != SHN_UNDEF &&
        !hub_elf_is_code(of, symbol.st_value)) {
        return hub_elf_damaged(of, "a symbol is nowhere");
    }
    return HUB_OK;
}

static hub_err check_symbols(hub_elf *of)
{
    hub_err err = of->gnu_hash != 0 ? check_gnu_hash(of) : check_old_hash(of);
    if (err != HUB_OK) {
        return err;
    }
    hub_err result = HUB_OK;
    for (uint64_t i = 1; result == HUB_OK && i < of->symbol_count; i++) {
        result = check_symbol(of, i);
    }
    return result;
}

/* ---- relocations ----------------------------------------------------------------------------- */

static const int ARRAYS[2][2] = {{DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                 {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};

/* An address is about to be written: count those that are a function to be called. */
static void note_array(hub_elf *of, uint64_t address)
{
    for (int i = 0; i < 2; i++) {
        uint64_t begin = of->tags[ARRAYS[i][0]];
        if (of->has[ARRAYS[i][0]] && address >= begin && address - begin < of->tags[ARRAYS[i][1]]) {
            of->arrays_set[i]++;
        }
    }
}

static hub_err check_relocation(hub_elf *of, const ElfW(Rela) * one)
{
    uint64_t symbol = ELF64_R_SYM(one->r_info);
    hub_err err = symbol != 0 && symbol >= of->symbol_count ? check_symbol(of, symbol) : HUB_OK;
    if (err != HUB_OK) {
        return err;
    }
    if (!hub_elf_is_writable(of, one->r_offset, sizeof(uint64_t))) {
        return hub_elf_damaged(of, "a relocation is nowhere");
    }
    bool is_of_code = hub_elf_is_code(of, (uint64_t)one->r_addend);
    if (symbol != 0 || is_of_code) {
        note_array(of, one->r_offset);
    }
#ifdef __x86_64__
    if (ELF64_R_TYPE(one->r_info) == R_X86_64_IRELATIVE && !is_of_code) {
        return hub_elf_damaged(of, "a relocation is by a function that is nowhere");
    }
#endif
    return HUB_OK;
}

static hub_err check_relocations(hub_elf *of, int table_tag, int size_tag)
{
    ElfW(Rela) one;
    static const unsigned char nothing[sizeof one];
    if (!of->has[table_tag]) {
        return HUB_OK;
    }
    uint64_t count = of->tags[size_tag] / sizeof one;
    const unsigned char *all = hub_elf_table_at(of, of->tags[table_tag], count, sizeof one);
    if (all == NULL || !of->has[size_tag] || of->tags[size_tag] % sizeof one != 0) {
        return hub_elf_damaged(of, "its relocations are not all there");
    }
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&one, all + i * sizeof one, sizeof one);
        if (memcmp(&one, nothing, sizeof one) == 0) {
            return hub_elf_damaged(of, "a relocation is empty");
        }
        if (ELF64_R_TYPE(one.r_info) == 0) {
            continue; /* R_*_NONE of every machine */
        }
        hub_err err = check_relocation(of, &one);
        if (err != HUB_OK) {
            return err;
        }
    }
    return HUB_OK;
}

/* Addresses, each followed by bitmaps (odd) of the 63 words behind. What is written is what the
 * file has there, moved. */
static hub_err check_relr(hub_elf *of)
{
    enum { BITS = 63 };
    if (!of->has[DT_RELR]) {
        return HUB_OK;
    }
    uint64_t count = of->tags[DT_RELRSZ] / sizeof(uint64_t);
    const unsigned char *all = hub_elf_table_at(of, of->tags[DT_RELR], count, sizeof(uint64_t));
    uint64_t where = 0;
    for (uint64_t i = 0; all != NULL && i < count; i++) {
        uint64_t entry;
        memcpy(&entry, all + i * sizeof entry, sizeof entry);
        bool is_address = (entry & 1) == 0;
        where = is_address ? entry : where;
        uint64_t bits = is_address ? 1 : entry >> 1;
        for (uint64_t address = where; bits != 0; bits >>= 1, address += sizeof entry) {
            if ((bits & 1) != 0 && !hub_elf_is_writable(of, address, sizeof entry)) {
                return hub_elf_damaged(of, "a relocation is nowhere");
            }
            const unsigned char *now =
                (bits & 1) != 0 ? hub_elf_at(of, address, sizeof entry) : NULL;
            uint64_t value = 0;
            if (now != NULL) {
                memcpy(&value, now, sizeof value);
            }
            if (hub_elf_is_code(of, value)) {
                note_array(of, address);
            }
        }
        where += sizeof entry * (is_address ? 1 : BITS);
    }
    return all != NULL ? HUB_OK : hub_elf_damaged(of, "its relocations are not all there");
}

static hub_err check_entries(hub_elf *of)
{
    if ((of->has[DT_INIT] && !hub_elf_is_code(of, of->tags[DT_INIT])) ||
        (of->has[DT_FINI] && !hub_elf_is_code(of, of->tags[DT_FINI]))) {
        return hub_elf_damaged(of, "its first or last function is nowhere");
    }
    for (int i = 0; i < 2; i++) {
        uint64_t bytes = of->has[ARRAYS[i][0]] ? of->tags[ARRAYS[i][1]] : 0;
        if (bytes % sizeof(uint64_t) != 0 || of->arrays_set[i] < bytes / sizeof(uint64_t)) {
            return hub_elf_damaged(of, "a function that is run first or last is nowhere");
        }
    }
    return HUB_OK;
}

hub_err hub_plugin_check_dynamic(const unsigned char *bytes, size_t size, hub_error *reterr)
{
    hub_elf of = {.bytes = bytes, .size = size, .reterr = reterr};
    memcpy(&of.header, bytes, sizeof of.header);
    hub_err err = read_segments(&of);
    err = err != HUB_OK ? err : read_dynamic(&of);
    err = err != HUB_OK ? err : check_symbols(&of);
    err = err != HUB_OK ? err : hub_elf_check_versions(&of);
    err = err != HUB_OK ? err : check_relocations(&of, DT_RELA, DT_RELASZ);
    err = err != HUB_OK ? err : check_relocations(&of, DT_JMPREL, DT_PLTRELSZ);
    err = err != HUB_OK ? err : check_relr(&of);
    return err != HUB_OK ? err : check_entries(&of);
}

#else

/* Not for 32 bits: the loader's own checks have to do. */
hub_err hub_plugin_check_dynamic(const unsigned char *bytes, size_t size, hub_error *reterr)
{
    (void)bytes;
    (void)size;
    (void)reterr;
    return HUB_OK;
}

#endif
