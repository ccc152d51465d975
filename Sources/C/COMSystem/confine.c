// Filters of system calls, Landlock rules and the change to a user without rights, for a process that reads foreign bytes.
#include "COMSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: - The user

// Above the ranges that systemd, SSSD and containers hand out, and below 2^31.
// Attack: another process of the same uid stops or kills the helper. Each process id has its own uid, so two helpers that
// live at the same time never share one.
enum { FIRST_HELPER_USER = 0x7f000000, NOBODY = 65534 };

// Whether this user namespace maps the uid.
static bool is_mapped(uid_t user) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map) return true;
    unsigned inside, outside, count;
    bool found = false;
    while (!found && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3) {
        found = user >= inside && user - inside < count;
    }
    fclose(map);
    return found;
}

uid_t om_helper_user(void) {
    uid_t user = FIRST_HELPER_USER + (uid_t)getpid();
    if (is_mapped(user)) return user;
    return is_mapped(NOBODY) ? NOBODY : 0;
}

int om_leave_root(void) {
    if (geteuid() != 0) return 0;
    uid_t user = om_helper_user();
    if (user == 0) return 0;
    // Attack: a process that keeps root's groups can still open the files of those groups.
    if (setgroups(0, NULL) != 0) return -1;
    if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) return -1;
    // The change of the user reset this flag to the system's default.
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int om_drop_capabilities(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capset, &head, none) != 0) return -1;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

// MARK: - Landlock

// Types of Landlock's later versions: the headers of Linux 6.1 end with version 2.
struct ruleset {
    uint64_t files, network, scopes;
};
struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));
struct port_rule {
    uint64_t allowed, port;
};
enum { PATH_RULE = 1, PORT_RULE = 2, CONNECT_TCP = 1 << 1, BIND_AND_CONNECT_TCP = 3, BOTH_SCOPES = 3 };
// Accesses to files.
enum {
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_FOLDER = 1 << 7,
    MAKE_FILE = 1 << 8,
    KEEP_FILES = WRITE_FILE | READ_FILE | READ_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE,
};

int om_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
    return version < 0 ? 0 : (int)version;
}

// Every access to files that the version knows.
static uint64_t file_accesses(int version) {
    int count = version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16;
    return ((uint64_t)1 << count) - 1;
}

// Closes the descriptor `path`.
static int allow(int ruleset, int path, uint64_t accesses) {
    struct path_rule rule = {accesses, path};
    long done = syscall(SYS_landlock_add_rule, ruleset, PATH_RULE, &rule, 0);
    close(path);
    return done == 0 ? 0 : -1;
}

static int allow_files(int ruleset, const char *const *paths, const char *folder) {
    for (; *paths; paths++) {
        int path = open(*paths, O_PATH | O_CLOEXEC);
        // A missing file needs no rule.
        if (path >= 0 && allow(ruleset, path, READ_FILE) != 0) return -1;
    }
    if (!folder) return 0;
    // Attack: a link takes the place of the folder, and this process may write to where it leads.
    int path = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return path < 0 ? -1 : allow(ruleset, path, KEEP_FILES);
}

int om_landlock(
    const char *const *paths, const char *folder, const uint16_t *ports, size_t port_count, bool scopes) {
    int version = om_landlock_version();
    struct ruleset wanted = {
        .files = paths && version >= 1 ? file_accesses(version) : 0,
        .network = ports && version >= 4 ? BIND_AND_CONNECT_TCP : 0,
        .scopes = scopes && version >= 6 ? BOTH_SCOPES : 0,
    };
    if (!wanted.files && !wanted.network && !wanted.scopes) return 0;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0);
    if (ruleset < 0) return -1;
    int failed = wanted.files ? allow_files(ruleset, paths, folder) : 0;
    for (size_t i = 0; wanted.network && i < port_count && !failed; i++) {
        struct port_rule rule = {CONNECT_TCP, ports[i]};
        failed = (int)syscall(SYS_landlock_add_rule, ruleset, PORT_RULE, &rule, 0);
    }
    if (!failed) failed = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
    return failed ? -1 : 0;
}

// MARK: - Filters of system calls

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

// A rule applies to a call if each test holds: (argument & mask) == value.
struct test {
    uint32_t argument, mask, value;
};
struct rule {
    long call;
    struct test tests[3];
};

struct filter {
    struct sock_filter code[640];
    unsigned short count;
};

static void put(struct filter *filter, uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
    if (filter->count == sizeof filter->code / sizeof *filter->code) __builtin_trap();
    filter->code[filter->count++] = (struct sock_filter){code, yes, no, value};
}

static void put_load(struct filter *filter, size_t offset) {
    put(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void put_answer(struct filter *filter, uint32_t answer) {
    put(filter, BPF_RET | BPF_K, answer, 0, 0);
}

// Attack: a process makes calls of another architecture, whose numbers mean other calls. The filter kills such a process.
// `om_filter_calls` also refuses the calls of x32: their numbers are all above the last known call.
static void put_head(struct filter *filter) {
    put_load(filter, offsetof(struct seccomp_data, arch));
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    put_answer(filter, SECCOMP_RET_KILL_PROCESS);
}

static void put_rule(struct filter *filter, const struct rule *rule, uint32_t answer) {
    enum { STEPS = 3 };
    uint8_t tests = 0;
    while (tests < 3 && rule->tests[tests].mask) tests++;
    put_load(filter, offsetof(struct seccomp_data, nr));
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, (uint8_t)(tests * STEPS + 1));
    for (uint8_t i = 0; i < tests; i++) {
        const struct test *test = &rule->tests[i];
        // Every tested argument has 32 bits, and both architectures are little-endian.
        put_load(filter, offsetof(struct seccomp_data, args) + 8 * test->argument);
        put(filter, BPF_ALU | BPF_AND | BPF_K, test->mask, 0, 0);
        put(filter, BPF_JMP | BPF_JEQ | BPF_K, test->value, 0, (uint8_t)((tests - i - 1) * STEPS + 1));
    }
    put_answer(filter, answer);
}

static int install(struct filter *filter) {
    struct sock_fprog program = {filter->count, filter->code};
    // TSYNC installs the filter in every thread of this process.
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ? 0 : -1;
}

enum { WHOLE = -1, REFUSED = SECCOMP_RET_ERRNO | EPERM, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };

#define OF_THREAD (CLONE_THREAD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
// The flags that write, create or empty a file. O_TMPFILE is here without O_DIRECTORY's bit.
#define OF_WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

// What every confined process needs: memory, its own signals, time, waiting, reading open files.
static const struct rule common[] = {
    // Memory.
    {SYS_brk}, {SYS_mmap}, {SYS_munmap}, {SYS_mremap}, {SYS_mprotect}, {SYS_madvise}, {SYS_mlock}, {SYS_mlock2}, {SYS_munlock},
    // This thread and its signals. This process can neither make nor reach another process.
    {SYS_futex}, {SYS_gettid}, {SYS_getpid}, {SYS_getppid}, {SYS_sched_yield}, {SYS_getcpu}, {SYS_exit}, {SYS_exit_group},
    {SYS_rt_sigaction}, {SYS_rt_sigprocmask}, {SYS_rt_sigreturn}, {SYS_sigaltstack}, {SYS_restart_syscall},
    // Facts about this process and the machine.
    {SYS_getuid}, {SYS_geteuid}, {SYS_getgid}, {SYS_getegid}, {SYS_uname}, {SYS_sysinfo}, {SYS_getrusage}, {SYS_getcwd},
    {SYS_prlimit64, {{0, WHOLE, 0}}}, {SYS_getrandom},
    // Time.
    {SYS_clock_gettime}, {SYS_clock_getres}, {SYS_clock_nanosleep}, {SYS_nanosleep}, {SYS_gettimeofday},
    // Waiting.
    {SYS_ppoll},
    // Files that are open.
    {SYS_read}, {SYS_pread64}, {SYS_readv}, {SYS_write}, {SYS_writev}, {SYS_close}, {SYS_lseek}, {SYS_fstat}, {SYS_newfstatat},
    {SYS_statx}, {SYS_statfs}, {SYS_fstatfs}, {SYS_readlinkat}, {SYS_faccessat},
#ifdef SYS_faccessat2
    {SYS_faccessat2},
#endif
    {SYS_fcntl, {{1, WHOLE, F_GETFD}}}, {SYS_fcntl, {{1, WHOLE, F_SETFD}}}, {SYS_fcntl, {{1, WHOLE, F_GETFL}}},
    {SYS_fcntl, {{1, WHOLE, F_SETFL}}}, {SYS_fcntl, {{1, WHOLE, F_DUPFD_CLOEXEC}}},
    // The open sockets.
    {SYS_sendto}, {SYS_recvfrom},
#ifdef __x86_64__
    // Calls that newer architectures lack.
    {SYS_time}, {SYS_stat}, {SYS_lstat}, {SYS_access}, {SYS_readlink}, {SYS_poll},
#endif
};

// Files, for reading only. Landlock limits which ones.
static const struct rule of_opening[] = {
    {SYS_openat, {{2, OF_WRITING, O_RDONLY}}},
#ifdef __x86_64__
    {SYS_open, {{1, OF_WRITING, O_RDONLY}}},
#endif
};

// What the reader of a file needs beside the common calls: threads, for a slow key derivation.
static const struct rule of_reading[] = {
    {SYS_clone, {{0, OF_THREAD, CLONE_THREAD}}},
    {SYS_set_robust_list}, {SYS_sched_getaffinity}, {SYS_membarrier},
#ifdef SYS_rseq
    {SYS_rseq},
#endif
};

// What a question to a server needs beside that: threads, timers, new sockets.
static const struct rule of_online[] = {
    {SYS_clone, {{0, OF_THREAD, CLONE_THREAD}}},
    {SYS_set_robust_list}, {SYS_sched_getaffinity}, {SYS_sched_getparam}, {SYS_sched_getscheduler}, {SYS_membarrier},
    {SYS_setpriority, {{0, WHOLE, 0}, {1, WHOLE, 0}}},
    {SYS_prctl, {{0, WHOLE, PR_SET_NAME}}}, {SYS_prctl, {{0, WHOLE, PR_GET_NAME}}},
#ifdef SYS_rseq
    {SYS_rseq},
#endif
    {SYS_timerfd_create}, {SYS_timerfd_settime}, {SYS_timerfd_gettime},
    {SYS_pselect6}, {SYS_epoll_create1}, {SYS_epoll_ctl}, {SYS_epoll_pwait}, {SYS_eventfd2},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2},
#endif
    {SYS_ioctl, {{1, WHOLE, FIONREAD}}}, {SYS_ioctl, {{1, WHOLE, FIONBIO}}},
    // Sockets that connect; none can listen. `om_filter_sockets` limits their kinds.
    {SYS_socket}, {SYS_connect}, {SYS_getsockname}, {SYS_getpeername}, {SYS_getsockopt}, {SYS_shutdown}, {SYS_sendmsg},
    {SYS_sendmmsg}, {SYS_recvmsg}, {SYS_recvmmsg},
    {SYS_setsockopt, {{1, WHOLE, SOL_SOCKET}}}, {SYS_setsockopt, {{1, WHOLE, IPPROTO_IP}}},
    {SYS_setsockopt, {{1, WHOLE, IPPROTO_IPV6}}}, {SYS_setsockopt, {{1, WHOLE, IPPROTO_TCP}}},
#ifdef __x86_64__
    {SYS_arch_prctl}, {SYS_select}, {SYS_epoll_create}, {SYS_epoll_wait}, {SYS_eventfd},
#endif
};

// What a folder's files need beside that: lists, drafts with their locks, new names, removals. Landlock limits where.
static const struct rule of_folder[] = {
    {SYS_getdents64},
    {SYS_openat, {{2, OF_WRITING | O_EXCL, O_WRONLY | O_CREAT | O_EXCL}}},
    // A draft that a killed process left is open for writing while its lock is tried.
    {SYS_openat, {{2, OF_WRITING, O_RDWR}}},
    {SYS_pwrite64}, {SYS_fsync}, {SYS_fdatasync}, {SYS_flock},
    {SYS_mkdirat}, {SYS_unlinkat, {{2, WHOLE, 0}}}, {SYS_renameat}, {SYS_renameat2, {{4, WHOLE, 0}}},
#ifdef __x86_64__
    {SYS_mkdir}, {SYS_unlink}, {SYS_rename},
#endif
};

static void put_rules(struct filter *filter, const struct rule *rules, size_t count) {
    for (size_t i = 0; i < count; i++) put_rule(filter, &rules[i], SECCOMP_RET_ALLOW);
}

static bool asks_servers(enum om_work work) { return work == OM_WORK_ONLINE || work == OM_WORK_BROWSER; }

int om_filter_calls(enum om_work work) {
    // The last call of Linux 6.1. After ENOSYS a library goes on without a newer call, as it does on that kernel.
    enum { LAST_KNOWN = 450 };
    struct filter filter = {.count = 0};
    put_head(&filter);
    put_rules(&filter, common, sizeof common / sizeof *common);
    if (work == OM_WORK_FOLDER) put_rules(&filter, of_folder, sizeof of_folder / sizeof *of_folder);
    if (work == OM_WORK_READING) put_rules(&filter, of_reading, sizeof of_reading / sizeof *of_reading);
    if (work != OM_WORK_READING) put_rules(&filter, of_opening, sizeof of_opening / sizeof *of_opening);
    if (asks_servers(work)) put_rules(&filter, of_online, sizeof of_online / sizeof *of_online);
    // It has no socket that listens but those that it was given, and it can make none. NIO calls `listen` for them once more: the
    // call does nothing, and returns 0.
    // Attack: an allowed `listen` binds a new socket to a free port of every address.
    if (work == OM_WORK_BROWSER) {
        put_rule(&filter, &(struct rule){SYS_accept4}, SECCOMP_RET_ALLOW);
        put_rule(&filter, &(struct rule){SYS_listen}, SECCOMP_RET_ERRNO);
    }
    // abort() signals its own thread.
    // Attack: this process kills the agent, which has the same user. Only signals to this process pass.
    const struct rule own = {SYS_tgkill, {{0, WHOLE, (uint32_t)getpid()}}};
    put_rule(&filter, &own, SECCOMP_RET_ALLOW);
    // The flags of clone3 are behind a pointer, so no filter can see them. Without clone3, libraries make threads with clone.
    put_rule(&filter, &(struct rule){SYS_clone3}, UNKNOWN);
    put_load(&filter, offsetof(struct seccomp_data, nr));
    put(&filter, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
    put_answer(&filter, UNKNOWN);
    put_answer(&filter, REFUSED);
    return install(&filter);
}

// Attack: this process asks the agent over AF_UNIX, and the agent gives out every item. Only IPv4 and IPv6 pass,
// and for files no socket at all.
// Attack: a connection by another protocol number than TCP's own (MPTCP), or with data in the first packet (TCP fast open),
// goes around Landlock's ports, as on Linux 6.18. Neither passes.
int om_filter_sockets(enum om_work work) {
    enum { KIND = 0xf };
#define ONE_KIND(family, kind, protocol) {SYS_socket, {{0, WHOLE, family}, {1, KIND, kind}, {2, WHOLE, protocol}}}
#define TCP_AND_UDP(family)                                                                                       \
    ONE_KIND(family, SOCK_STREAM, 0), ONE_KIND(family, SOCK_STREAM, IPPROTO_TCP), ONE_KIND(family, SOCK_DGRAM, 0), \
        ONE_KIND(family, SOCK_DGRAM, IPPROTO_UDP)
    static const struct rule sockets[] = {
        TCP_AND_UDP(AF_INET),
        TCP_AND_UDP(AF_INET6),
    };
    static const struct rule sending[] = {
        {SYS_sendto, {{3, MSG_FASTOPEN, 0}}},
        {SYS_sendmsg, {{2, MSG_FASTOPEN, 0}}},
        {SYS_sendmmsg, {{3, MSG_FASTOPEN, 0}}},
    };
    static const long judged[] = {SYS_socket, SYS_socketpair, SYS_sendto, SYS_sendmsg, SYS_sendmmsg};
    struct filter filter = {.count = 0};
    put_head(&filter);
    if (asks_servers(work)) put_rules(&filter, sockets, sizeof sockets / sizeof *sockets);
    put_rules(&filter, sending, sizeof sending / sizeof *sending);
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) put_rule(&filter, &(struct rule){judged[i]}, REFUSED);
    put_answer(&filter, SECCOMP_RET_ALLOW);
    return install(&filter);
}

bool om_has_filters(void) {
    uint32_t answer = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &answer) == 0;
}

#else

int om_filter_calls(enum om_work work) {
    (void)work;
    return 0;
}

int om_filter_sockets(enum om_work work) {
    (void)work;
    return 0;
}

bool om_has_filters(void) {
    return false;
}

#endif
