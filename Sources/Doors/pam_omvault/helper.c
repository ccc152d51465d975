// The helper's process: the module starts it, asks it over a socket, and ends it before returning.

#include "pam_omvault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <security/pam_ext.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/// How long a helper may take to end after its answer, and how long the kernel may take to end a killed helper.
enum { GRACE_MILLISECONDS = 1000 };

/// Attack: an attacker who can change the helper, or rename another program over it, says yes to every password. So root
/// must own the program and each folder above it, and no other user may write them.
static bool is_roots(const char *path, mode_t kind) {
    struct stat found;
    return lstat(path, &found) == 0 && (found.st_mode & S_IFMT) == kind && found.st_uid == 0
        && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool omp_helper_is_safe(void) {
    char path[] = OMP_HELPER;
    if (!is_roots("/", S_IFDIR)) return false;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool safe = is_roots(path, S_IFDIR);
        *slash = '/';
        if (!safe) return false;
    }
    return is_roots(path, S_IFREG);
}

// MARK: - Waiting

static int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_ready(int fd, short events, int64_t end) {
    for (;;) {
        int64_t left = end - now_milliseconds();
        if (left <= 0) return false;
        struct pollfd waiting = {.fd = fd, .events = events};
        int count = poll(&waiting, 1, left > 60000 ? 60000 : (int)left);
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return false;
    }
}

static bool send_all(int fd, const void *bytes, size_t count, int64_t end) {
    const char *rest = bytes;
    while (count > 0) {
        if (!is_ready(fd, POLLOUT, end)) return false;
        // If the helper has died, SIGPIPE must not kill the program.
        ssize_t sent = send(fd, rest, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (sent <= 0) return false;
        rest += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t count, int64_t end) {
    char *rest = bytes;
    while (count > 0) {
        if (!is_ready(fd, POLLIN, end)) return false;
        ssize_t got = recv(fd, rest, count, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return false;
        rest += got;
        count -= (size_t)got;
    }
    return true;
}

// MARK: - The process

/// Starts the helper as a child in a session of its own. Descriptor 0 is `channel`, 1 and 2 are /dev/null, and all others
/// are closed. The environment is empty, and no signal is blocked or ignored.
static pid_t start(int channel) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&files) != 0) return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    // Attack: a user presses Ctrl-\ or Ctrl-Z at su's password prompt and kills or stops root's helper too. The terminal's
    // signals do not reach another session.
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    bool prepared = posix_spawn_file_actions_adddup2(&files, channel, 0) == 0
        && posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0
        && posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0
        && posix_spawn_file_actions_addclosefrom_np(&files, 3) == 0
        && posix_spawnattr_setsigmask(&attributes, &none) == 0
        && posix_spawnattr_setsigdefault(&attributes, &all) == 0
        && posix_spawnattr_setflags(&attributes, flags) == 0;
    char program[] = OMP_HELPER;
    char *arguments[] = {program, NULL}, *environment[] = {NULL};
    if (prepared && posix_spawn(&child, program, &files, &attributes, arguments, environment) != 0) child = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return child;
}

/// A descriptor of the child. -1 if it is no longer a child of this process.
static int descriptor_of(pid_t child) {
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    if (process < 0) return -1;
    // Attack: in a program that ignores SIGCHLD, a dead helper disappears at once, and another process can get its number.
    // waitid accepts children only.
    siginfo_t unused;
    if (waitid(P_PIDFD, (id_t)process, &unused, WEXITED | WNOHANG | WNOWAIT) == 0) return process;
    close(process);
    return -1;
}

/// After a whole answer the helper ends by itself; otherwise, or if it takes too long, it is killed. Both waits are limited.
static void finish(int process, bool answered) {
    bool ended = answered && is_ready(process, POLLIN, now_milliseconds() + GRACE_MILLISECONDS);
    if (!ended) (void)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
    siginfo_t unused;
    if (is_ready(process, POLLIN, now_milliseconds() + GRACE_MILLISECONDS)) {
        (void)waitid(P_PIDFD, (id_t)process, &unused, WEXITED | WNOHANG);
    }
}

/// Asks over `channel`. The nonce binds the answer to this question, even if another process writes to the channel.
static struct omp_answer ask(int channel, const struct omp_options *options, const char *user, const char *password) {
    struct omp_answer none = {.verdict = OMP_NONE};
    size_t profile = strlen(options->profile), name = strlen(user), secret = strlen(password);
    int64_t end = now_milliseconds() + (int64_t)options->seconds * 1000;
    unsigned char head[OMP_ASK_HEAD], answer[OMP_ANSWER_COUNT] = {0};
    unsigned char *nonce = head + OMP_MAGIC;
    memcpy(head, OMP_ASK, OMP_MAGIC);
    if (getrandom(nonce, OMP_NONCE, 0) != OMP_NONCE) return none;
    unsigned char *rest = nonce + OMP_NONCE;
    *rest++ = (unsigned char)options->mode;
    *rest++ = options->root ? 'Y' : 'N';
    *rest++ = (unsigned char)(options->seconds >> 8);
    *rest++ = (unsigned char)options->seconds;
    *rest++ = (unsigned char)profile;
    *rest++ = (unsigned char)(name >> 8);
    *rest++ = (unsigned char)name;
    for (int shift = 24; shift >= 0; shift -= 8) *rest++ = (unsigned char)(secret >> shift);
    bool answered = send_all(channel, head, sizeof head, end) && send_all(channel, options->profile, profile, end)
        && send_all(channel, user, name, end) && send_all(channel, password, secret, end)
        && receive_all(channel, answer, sizeof answer, end);
    if (!answered || memcmp(answer, OMP_ANSWER, OMP_MAGIC) != 0) return none;
    if (memcmp(answer + OMP_MAGIC, nonce, OMP_NONCE) != 0) return none;
    const unsigned char *told = answer + OMP_MAGIC + OMP_NONCE;
    uint32_t seconds = (uint32_t)told[1] << 24 | (uint32_t)told[2] << 16 | (uint32_t)told[3] << 8 | told[4];
    return (struct omp_answer){.verdict = told[0], .seconds = seconds};
}

struct omp_answer omp_ask(pam_handle_t *pam, const struct omp_options *options, const char *user, const char *password) {
    struct omp_answer answer = {.verdict = OMP_NONE};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return answer;
    pid_t helper = start(ends[1]);
    close(ends[1]);
    int process = helper > 0 ? descriptor_of(helper) : -1;
    if (process >= 0) answer = ask(ends[0], options, user, password);
    // A helper that got no question ends when it reads the channel's end.
    close(ends[0]);
    if (process >= 0) {
        finish(process, answer.verdict != OMP_NONE);
        close(process);
    } else {
        pam_syslog(pam, LOG_ERR, "%s could not be started", OMP_HELPER);
    }
    return answer;
}
