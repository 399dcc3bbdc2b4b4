/* SPDX-License-Identifier: Apache-2.0 */
/* The versions that a plugin's symbols have, and those that it needs of others. */
#include "modules/plugin_elf.h"

#if __ELF_NATIVE_CLASS == 64

static void note_version(hub_elf *of, unsigned index)
{
    of->version_max = index > of->version_max ? index : of->version_max;
}

/* What the versions of a library that is needed lead to: at most as many as there can be. */
static hub_err check_needed_versions(hub_elf *of)
{
    uint64_t address = of->verneed;
    for (uint64_t i = 0; of->verneed != 0 && i < of->verneed_count; i++) {
        ElfW(Verneed) need;
        const unsigned char *bytes = hub_elf_at(of, address, sizeof need);
        if (bytes == NULL) {
            return hub_elf_damaged(of, "the versions that it needs");
        }
        memcpy(&need, bytes, sizeof need);
        uint64_t each = address + need.vn_aux;
        if (need.vn_version != 1 || need.vn_file >= of->tags[DT_STRSZ] || need.vn_cnt == 0) {
            return hub_elf_damaged(of, "the versions that it needs");
        }
        for (unsigned k = 0; k < need.vn_cnt; k++) {
            ElfW(Vernaux) one;
            bytes = hub_elf_at(of, each, sizeof one);
            if (bytes == NULL) {
                return hub_elf_damaged(of, "the versions that it needs");
            }
            memcpy(&one, bytes, sizeof one);
            bool is_last = k + 1u == need.vn_cnt;
            if (one.vna_name >= of->tags[DT_STRSZ] || (one.vna_next == 0) != is_last) {
                return hub_elf_damaged(of, "the versions that it needs");
            }
            note_version(of, one.vna_other & 0x7fff);
            each += one.vna_next;
        }
        if ((need.vn_next == 0) != (i + 1 == of->verneed_count)) {
            return hub_elf_damaged(of, "the versions that it needs");
        }
        address += need.vn_next;
    }
    return HUB_OK;
}

static hub_err check_defined_versions(hub_elf *of)
{
    uint64_t address = of->verdef;
    for (uint64_t i = 0; of->verdef != 0 && i < of->verdef_count; i++) {
        ElfW(Verdef) defined;
        ElfW(Verdaux) name;
        const unsigned char *bytes = hub_elf_at(of, address, sizeof defined);
        if (bytes == NULL) {
            return hub_elf_damaged(of, "the versions that it has");
        }
        memcpy(&defined, bytes, sizeof defined);
        bytes = hub_elf_at(of, address + defined.vd_aux, sizeof name);
        if (bytes == NULL || defined.vd_version != 1 ||
            (defined.vd_next == 0) != (i + 1 == of->verdef_count)) {
            return hub_elf_damaged(of, "the versions that it has");
        }
        memcpy(&name, bytes, sizeof name);
        if (name.vda_name >= of->tags[DT_STRSZ]) {
            return hub_elf_damaged(of, "the versions that it has");
        }
        note_version(of, defined.vd_ndx & 0x7fff);
        address += defined.vd_next;
    }
    return HUB_OK;
}

hub_err hub_elf_check_versions(hub_elf *of)
{
    hub_err err = check_needed_versions(of);
    err = err != HUB_OK ? err : check_defined_versions(of);
    if (err != HUB_OK || of->versym == 0) {
        return err;
    }
    const unsigned char *versions =
        hub_elf_table_at(of, of->versym, of->symbol_count, sizeof(ElfW(Versym)));
    for (uint64_t i = 0; versions != NULL && i < of->symbol_count; i++) {
        ElfW(Versym) index;
        memcpy(&index, versions + i * sizeof index, sizeof index);
        if ((index & 0x7fff) > 1 && (unsigned)(index & 0x7fff) > of->version_max) {
            return hub_elf_damaged(of, "a symbol has a version that there is not");
        }
    }
    return versions != NULL ? HUB_OK : hub_elf_damaged(of, "the versions of its symbols");
}

#endif
