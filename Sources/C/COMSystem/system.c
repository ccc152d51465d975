// Locked memory, hardening, kinds of file systems, clocks, held signals, environment variables and child processes.
#include "COMSystem.h"

#include <errno.h>
#include <linux/magic.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The headers of an older glibc lack this number.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static bool map_hidden(unsigned char *base, size_t size) {
    int fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
    if (fd < 0) return false;
    bool done = false;
    if (ftruncate(fd, (off_t)size) == 0) {
        done = mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
        // A shared mapping cannot be zeroed in a child, so the child does not get it.
        if (done) (void)madvise(base, size, MADV_DONTFORK);
    }
    close(fd);
    return done;
}

void *om_secret_map(size_t size, bool hide, enum om_secret_memory *got) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size == 0 || size % page != 0 || size > SIZE_MAX - 2 * page) {
        errno = EINVAL;
        return NULL;
    }
    unsigned char *all = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    unsigned char *base = all + page;
    if (hide && map_hidden(base, size)) {
        *got = OM_MEMORY_HIDDEN;
        return base;
    }
    // Mapped over the reserved pages, which a failed attempt above may have unmapped.
    void *plain = mmap(base, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (plain == MAP_FAILED) {
        munmap(all, size + 2 * page);
        return NULL;
    }
    // An old kernel may lack this advice. That costs a layer of defence, not correctness.
    (void)madvise(base, size, MADV_DONTDUMP);
    (void)madvise(base, size, MADV_WIPEONFORK);
    *got = mlock(base, size) == 0 ? OM_MEMORY_LOCKED : OM_MEMORY_PLAIN;
    return base;
}

void om_secret_unmap(void *base, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    explicit_bzero(base, size);
    munmap((unsigned char *)base - page, size + 2 * page);
}

void om_wipe(void *base, size_t size) {
    explicit_bzero(base, size);
}

int om_harden_process(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
    // Swift's backtracer prints registers and the memory that they point to. Either can hold a key.
    const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGQUIT};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int om_is_hardened(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}

int om_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Never inlined: this frame must lie below the caller's, in the memory that the caller's finished calls used.
__attribute__((noinline)) void om_wipe_stack(void) {
    unsigned char below[96 << 10];
    explicit_bzero(below, sizeof below);
}

int om_rename_new(const char *path, const char *new_path) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, new_path, RENAME_NOREPLACE);
}

int om_is_in_memory(int fd) {
    struct statfs info;
    while (fstatfs(fd, &info) != 0) {
        if (errno != EINTR) return -1;
    }
    unsigned long kind = (unsigned long)info.f_type & 0xffffffffUL;
    return kind == TMPFS_MAGIC || kind == RAMFS_MAGIC;
}

#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC 0xFF534D42
#endif
#ifndef SMB2_SUPER_MAGIC
#define SMB2_SUPER_MAGIC 0xFE534D42
#endif
#ifndef CEPH_SUPER_MAGIC
#define CEPH_SUPER_MAGIC 0x00c36400
#endif
#ifndef V9FS_MAGIC
#define V9FS_MAGIC 0x01021997
#endif

int om_is_on_network(int fd) {
    struct statfs info;
    while (fstatfs(fd, &info) != 0) {
        if (errno != EINTR) return -1;
    }
    switch ((unsigned long)info.f_type & 0xffffffffUL) {
    case NFS_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case CODA_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case V9FS_MAGIC:
        return 1;
    default:
        return 0;
    }
}

int om_clocks(int64_t *wall, int64_t *since_boot) {
    const int64_t second = 1000000000;
    int64_t shortest = INT64_MAX;
    /* A process that sleeps between the readings sees the clocks further apart than they are, so the shortest try counts. */
    for (int attempt = 0; attempt < 8 && shortest > 20000; attempt++) {
        struct timespec before, now, after;
        if (clock_gettime(CLOCK_BOOTTIME, &before) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0
            || clock_gettime(CLOCK_BOOTTIME, &after) != 0) return -1;
        int64_t first = before.tv_sec * second + before.tv_nsec;
        int64_t took = after.tv_sec * second + after.tv_nsec - first;
        if (took >= shortest) continue;
        shortest = took;
        *wall = now.tv_sec * second + now.tv_nsec;
        *since_boot = first;
    }
    return 0;
}

int64_t om_boot_milliseconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

size_t om_signal_mask_size(void) {
    return sizeof(sigset_t);
}

int om_signals_hold(void *saved_mask, size_t saved_size) {
    if (saved_size != sizeof(sigset_t)) {
        errno = EINVAL;
        return -1;
    }
    // Attack: an attacker stops or kills an attempt between its charge and its settlement, from a terminal or by a resource
    // limit. Then the wrong password is not counted, or the attempt holds its locks as long as the attacker likes.
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&held, numbers[i]);
    int failure = pthread_sigmask(SIG_BLOCK, &held, saved_mask);
    if (failure == 0) return 0;
    errno = failure;
    return -1;
}

int om_signals_release(const void *saved_mask, size_t saved_size) {
    if (saved_size != sizeof(sigset_t)) {
        errno = EINVAL;
        return -1;
    }
    int failure = pthread_sigmask(SIG_SETMASK, saved_mask, NULL);
    if (failure == 0) return 0;
    errno = failure;
    return -1;
}

int om_environment_erase(const char *name) {
    size_t length = strlen(name);
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, name, length) != 0 || (*entry)[length] != '=') continue;
        char *value = *entry + length + 1;
        explicit_bzero(value, strlen(value));
    }
    return unsetenv(name);
}

int om_environment_erase_all(const char *prefix) {
    size_t length = strlen(prefix);
    for (char **entry = environ; entry && *entry;) {
        const char *end = strchr(*entry, '=');
        if (!end || strncmp(*entry, prefix, length) != 0) {
            entry++;
            continue;
        }
        char *name = strndup(*entry, (size_t)(end - *entry));
        if (!name || om_environment_erase(name) != 0) return -1;
        free(name);
        entry = environ;
    }
    return 0;
}

// Starts a program with these files, with no other descriptor above them, and with its signals at their defaults. `failure` is
// that of the calls that made the files. Without an `environment` the program gets this one's, and PATH is searched for it.
static pid_t spawn(const char *program, char *const arguments[], char *const environment[],
                   posix_spawn_file_actions_t *files, int failure, bool apart) {
    posix_spawnattr_t attributes;
    sigset_t every, none;
    sigfillset(&every);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    pid_t child = -1;
    const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (apart ? POSIX_SPAWN_SETSID : 0);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &every);
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, &none);
    if (!failure) failure = posix_spawnattr_setflags(&attributes, flags);
    if (!failure) {
        failure = environment ? posix_spawn(&child, program, files, &attributes, arguments, environment)
                              : posix_spawnp(&child, program, files, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(files);
    errno = failure;
    return failure ? -1 : child;
}

// Makes /dev/null the standard files.
static int silence(posix_spawn_file_actions_t *files) {
    int failure = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !failure; fd++) {
        failure = posix_spawn_file_actions_addopen(files, fd, "/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    }
    return failure;
}

pid_t om_spawn(char *const arguments[], int output, int error) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int failure = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&files, error, STDERR_FILENO);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    return spawn(arguments[0], arguments, NULL, &files, failure, false);
}

pid_t om_spawn_apart(char *const arguments[]) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int failure = silence(&files);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    return spawn(arguments[0], arguments, NULL, &files, failure, true);
}

pid_t om_spawn_piped(char *const arguments[], int input, int output) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int failure = silence(&files);
    if (!failure && input >= 0) failure = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (!failure && output >= 0) failure = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    return spawn(arguments[0], arguments, NULL, &files, failure, true);
}

pid_t om_spawn_detached(const char *path, char *const arguments[], char *const environment[], int ready) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int failure = silence(&files);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&files, ready, STDERR_FILENO + 1);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 2);
    if (!failure) failure = posix_spawn_file_actions_addchdir_np(&files, "/");
    return spawn(path, arguments, environment, &files, failure, true);
}

int om_leave_parent(void) {
    pid_t child = fork();
    if (child > 0) _exit(0);
    return child;
}

int om_wait(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool om_child_is_ours(pid_t child) {
    siginfo_t found = {.si_pid = 0};
    // Of a running child there is nothing to tell. A child that has ended is named here, and stays for its wait.
    return child > 0 && waitid(P_PID, (id_t)child, &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid == 0;
}

int om_unnamed_file(const char *folder) {
    int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    // These say that the file system or the kernel has no such files.
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
    return om_unlinked_file(folder);
}

int om_unlinked_file(const char *folder) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return -1;
    size_t room = strlen(folder) + 32;
    char *path = malloc(room);
    if (path == NULL) return -1;
    snprintf(path, room, "%s/.omvault-%016llx", folder, (unsigned long long)number);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int failure = errno;
    // A file that keeps its name would outlive this process.
    if (fd >= 0 && unlink(path) != 0) {
        failure = errno;
        close(fd);
        fd = -1;
    }
    free(path);
    errno = failure;
    return fd;
}

int om_file_device(int fd, const char *path, uint64_t *device, bool *is_regular) {
    struct statx status;
    int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
    if (statx(fd, path, flags, STATX_TYPE, &status) != 0) return -1;
    *device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    *is_regular = S_ISREG(status.stx_mode);
    return 0;
}
