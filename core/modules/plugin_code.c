/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_code.h"

#include <link.h>

enum {
    HOLE_BYTES =
        128, /* so many zeros in a row are no code of x86, whose linkers fill gaps with nop */
    EDGE_BYTES = 16, /* nor are so many at an end of it */
    PAGE_BYTES = 4096,
};

static bool is_zero(const unsigned char *bytes, size_t len)
{
    return len > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* Whether `least` zeros in a row are in it. One of each `least` bytes is in any such row: from there
 * on it is counted both ways. */
static bool has_zeros(const unsigned char *bytes, size_t len, size_t least)
{
    for (size_t i = least - 1; i < len; i += least) {
        size_t from = i;
        size_t to = i;
        while (from > 0 && bytes[from - 1] == 0 && i - from < least) {
            from--;
        }
        while (to < len && bytes[to] == 0 && to - i < least) {
            to++;
        }
        if (bytes[i] == 0 && to - from >= least) {
            return true;
        }
    }
    return false;
}

/* Linkers for other machines leave zeros between functions. For AArch64 it is nearly a page: ld's
 * room for what works around erratum 843419 of Cortex-A53 is a multiple of 4096 bytes. */
static bool is_hole(const unsigned char *code, size_t len, unsigned machine)
{
    if (machine != EM_X86_64) {
        return has_zeros(code, len, PAGE_BYTES);
    }
    return len < EDGE_BYTES
               ? is_zero(code, len)
               : is_zero(code, EDGE_BYTES) || is_zero(code + len - EDGE_BYTES, EDGE_BYTES) ||
                     has_zeros(code, len, HOLE_BYTES);
}

static hub_err refuse(hub_error *reterr)
{
    return hub_fail(reterr, HUB_EPARSE, "damaged: there are zeros where its code should be");
}

/* Sections say where there is code and nothing else: whether any does, and one has a hole. */
static bool check_sections(const unsigned char *bytes, size_t size, const ElfW(Ehdr) * header,
                           bool *ret_has_hole)
{
    bool has_code = false;
    *ret_has_hole = false;
    for (size_t i = 0; header->e_shentsize == sizeof(ElfW(Shdr)) && i < header->e_shnum; i++) {
        ElfW(Shdr) section;
        memcpy(&section, bytes + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0 &&
            section.sh_offset <= size && section.sh_size <= size - section.sh_offset) {
            has_code = true;
            *ret_has_hole = *ret_has_hole ||
                            is_hole(bytes + section.sh_offset, section.sh_size, header->e_machine);
        }
    }
    return has_code;
}

hub_err hub_plugin_check_code(const unsigned char *bytes, size_t size, hub_error *reterr)
{
    ElfW(Ehdr) header;
    memcpy(&header, bytes, sizeof header);
    bool has_hole;
    if (check_sections(bytes, size, &header, &has_hole)) {
        return has_hole ? refuse(reterr) : HUB_OK;
    }
    /* Without sections, there may be constants in between: a page of zeros has to be. */
    for (size_t i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            has_zeros(bytes + segment.p_offset, segment.p_filesz, PAGE_BYTES)) {
            return refuse(reterr);
        }
    }
    return HUB_OK;
}
