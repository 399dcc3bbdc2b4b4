/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/confine.h"

#include "unpack/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls is not written for this machine"
#endif

enum {
    MEMORY_BYTES = 256 * 1024 * 1024, /* libzip keeps the directory of the archive, no file */
    SECONDS = 120,
    DESCRIPTORS = 16,
};

static const int ALLOWED[] = {
    SYS_read,      SYS_pread64, SYS_lseek,         SYS_write,        SYS_fstat,
    SYS_close,     SYS_mkdirat, SYS_munmap,        SYS_mremap,       SYS_brk,
    SYS_futex,     SYS_exit,    SYS_exit_group,    SYS_rt_sigreturn, SYS_newfstatat,
    SYS_getrandom, SYS_fcntl,   SYS_clock_gettime, SYS_sysinfo,
#ifdef SYS_fadvise64
    SYS_fadvise64,
#endif
};

enum { ALLOWED_COUNT = sizeof ALLOWED / sizeof *ALLOWED };

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define KILL         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define ALLOW        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static bool filter_calls(void)
{
    /* Little endian: the low half of an argument comes first. */
    static const struct sock_filter BEGIN[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        KILL,
        LOAD(nr),
        /* Memory is never to be run. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        KILL,
        ALLOW,
        /* New files of that folder; anything else, as the zone of time, is simply not there. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 6),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HUB_UNPACK_FOLDER, 0, 3),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_EXCL, 0, 1),
        ALLOW,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    enum { BEGIN_COUNT = sizeof BEGIN / sizeof *BEGIN };
    struct sock_filter code[BEGIN_COUNT + 2 * ALLOWED_COUNT + 1];
    size_t count = 0;
    for (; count < BEGIN_COUNT; count++) {
        code[count] = BEGIN[count];
    }
    for (size_t i = 0; i < ALLOWED_COUNT; i++) {
        code[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)ALLOWED[i], 0, 1);
        code[count++] = (struct sock_filter)ALLOW;
    }
    code[count++] = (struct sock_filter)KILL;
    const struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool unpack_confine(void)
{
    static const struct {
        int what;
        rlim_t most;
    } LIMITS[] = {
        {RLIMIT_AS, MEMORY_BYTES},    {RLIMIT_CPU, SECONDS}, {RLIMIT_FSIZE, HUB_UNPACK_BYTES},
        {RLIMIT_NOFILE, DESCRIPTORS}, {RLIMIT_CORE, 0},
    };
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
        const struct rlimit limit = {.rlim_cur = LIMITS[i].most, .rlim_max = LIMITS[i].most};
        if (setrlimit((__rlimit_resource_t)LIMITS[i].what, &limit) != 0) {
            return false;
        }
    }
    return filter_calls();
}
