// pam_omvault.so: asks omvault-pam-helper whether a password is right, and nothing else. docs/pam.md.
//
// It is loaded into other people's programs, as root: so it does no cryptography, opens no store, keeps no state, and
// changes neither signals nor environment. Every way out that is not a whole, fresh answer of the helper is a refusal.

#define _GNU_SOURCE
#include "pam_omvault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define HELPER "/usr/libexec/omvault/omvault-pam-helper"
#define EXPORTED __attribute__((visibility("default")))

enum { LONGEST_NAME = 255, LONGEST_PROFILE = 64, LONGEST_PASSWORD = 1 << 20 };

struct options {
    const char *profile;
    char mode;
    int seconds;
};

/// Attack: whoever can change the helper, or rename another one over it, says yes to every password. So the program and
/// each folder above it belong to root, and nobody else may write them.
static bool is_roots(const char *path, mode_t kind) {
    struct stat found;
    return lstat(path, &found) == 0 && (found.st_mode & S_IFMT) == kind && found.st_uid == 0
        && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool helper_is_safe(void) {
    char path[] = HELPER;
    if (!is_roots("/", S_IFDIR)) return false;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool safe = is_roots(path, S_IFDIR);
        *slash = '/';
        if (!safe) return false;
    }
    return is_roots(path, S_IFREG);
}

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
        // A helper that has died must not kill the program with SIGPIPE.
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

/// The helper as a child: descriptor 0 is `channel`, 1 and 2 lead nowhere, all others are closed, the environment is
/// empty, and no signal is held back or ignored.
static pid_t start_helper(int channel) {
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
    bool prepared = posix_spawn_file_actions_adddup2(&files, channel, 0) == 0
        && posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0
        && posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0
        && posix_spawn_file_actions_addclosefrom_np(&files, 3) == 0
        && posix_spawnattr_setsigmask(&attributes, &none) == 0
        && posix_spawnattr_setsigdefault(&attributes, &all) == 0
        && posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
    char program[] = HELPER;
    char *arguments[] = {program, NULL}, *environment[] = {NULL};
    if (prepared && posix_spawn(&child, program, &files, &attributes, arguments, environment) != 0) child = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return child;
}

/// Asks over `channel`. The nonce makes the answer one to this question, whoever else may have written.
static int ask(int channel, const struct options *options, const char *user, const char *password) {
    size_t profile = strlen(options->profile), name = strlen(user), secret = strlen(password);
    int64_t end = now_milliseconds() + (int64_t)options->seconds * 1000;
    unsigned char head[OMP_ASK_HEAD], answer[OMP_ANSWER_COUNT] = {0};
    unsigned char *nonce = head + OMP_MAGIC;
    memcpy(head, OMP_ASK, OMP_MAGIC);
    if (getrandom(nonce, OMP_NONCE, 0) != OMP_NONCE) return 0;
    unsigned char *rest = nonce + OMP_NONCE;
    *rest++ = (unsigned char)options->mode;
    *rest++ = (unsigned char)(options->seconds >> 8);
    *rest++ = (unsigned char)options->seconds;
    *rest++ = (unsigned char)profile;
    *rest++ = (unsigned char)(name >> 8);
    *rest++ = (unsigned char)name;
    for (int shift = 24; shift >= 0; shift -= 8) *rest++ = (unsigned char)(secret >> shift);
    bool answered = send_all(channel, head, sizeof head, end) && send_all(channel, options->profile, profile, end)
        && send_all(channel, user, name, end) && send_all(channel, password, secret, end)
        && receive_all(channel, answer, sizeof answer, end);
    if (!answered || memcmp(answer, OMP_ANSWER, OMP_MAGIC) != 0) return 0;
    if (memcmp(answer + OMP_MAGIC, nonce, OMP_NONCE) != 0) return 0;
    return answer[OMP_MAGIC + OMP_NONCE];
}

/// Whether the words on the module's line are all known. A misspelled one refuses: an option that is passed over is a
/// policy that does not hold.
static bool read_options(pam_handle_t *pam, int count, const char **words, struct options *options) {
    *options = (struct options){.profile = NULL, .mode = 'P', .seconds = 150};
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (strncmp(word, "profile=", 8) == 0) {
            options->profile = word + 8;
        } else if (strcmp(word, "mode=auto") == 0 || strcmp(word, "mode=offline") == 0 || strcmp(word, "mode=online") == 0) {
            options->mode = word[5] == 'a' ? 'A' : word[6] == 'f' ? 'F' : 'N';
        } else if (strncmp(word, "deadline=", 9) == 0) {
            char *rest;
            long seconds = strtol(word + 9, &rest, 10);
            if (*rest || rest == word + 9 || seconds < 1 || seconds > 600) goto unknown;
            options->seconds = (int)seconds;
        } else if (strcmp(word, "try_first_pass") != 0 && strcmp(word, "use_first_pass") != 0) {
            goto unknown;
        }
        continue;
    unknown:
        pam_syslog(pam, LOG_ERR, "unknown option \"%s\"", word);
        return false;
    }
    size_t length = options->profile ? strlen(options->profile) : 0;
    if (length >= 1 && length <= LONGEST_PROFILE) return true;
    pam_syslog(pam, LOG_ERR, "profile=NAME is missing, or no name");
    return false;
}

/// A name with a slash is no login's, but may become a path in a module after this one.
static bool is_name(const char *user) {
    size_t length = user ? strlen(user) : 0;
    return length >= 1 && length <= LONGEST_NAME && !strchr(user, '/') && user[0] != '-' && user[0] != '.';
}

static int code_of(pam_handle_t *pam, int verdict) {
    switch (verdict) {
    case OMP_GRANTED: return PAM_SUCCESS;
    case OMP_WRONG: return PAM_AUTH_ERR;
    case OMP_LOCKED_OUT:
        pam_syslog(pam, LOG_NOTICE, "the login is locked out");
        return PAM_MAXTRIES;
    case OMP_WIPED:
        pam_syslog(pam, LOG_NOTICE, "the cached credential is wiped");
        return PAM_MAXTRIES;
    case OMP_WAIT: return PAM_MAXTRIES;
    case OMP_NO_CREDENTIAL: return PAM_AUTHINFO_UNAVAIL;
    case OMP_EXPIRED:
        pam_syslog(pam, LOG_NOTICE, "the cached credential has expired");
        return PAM_AUTHINFO_UNAVAIL;
    case OMP_UNREACHABLE: return PAM_AUTHINFO_UNAVAIL;
    case OMP_REFUSED: return PAM_USER_UNKNOWN;
    case OMP_FORBIDDEN:
        pam_syslog(pam, LOG_NOTICE, "the server does not let the user in");
        return PAM_PERM_DENIED;
    case OMP_NO_VERDICT:
        pam_syslog(pam, LOG_ERR, "the server gave no verdict, or is not trusted: omvault login check --system");
        return PAM_AUTHINFO_UNAVAIL;
    case OMP_BROKEN:
        pam_syslog(pam, LOG_ERR, "the store is damaged, put back, unsafe or not set up: omvault login status --system");
        return PAM_SERVICE_ERR;
    default:
        pam_syslog(pam, LOG_ERR, "the helper gave no answer");
        return PAM_SERVICE_ERR;
    }
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **words) {
    struct options options;
    if (!read_options(pam, count, words, &options)) return PAM_SERVICE_ERR;
    if (geteuid() != 0) {
        pam_syslog(pam, LOG_ERR, "this program does not run as root, and only root may ask the system store");
        return PAM_AUTHINFO_UNAVAIL;
    }
    if (!helper_is_safe()) {
        pam_syslog(pam, LOG_ERR, "%s is missing, or not root's alone", HELPER);
        return PAM_SERVICE_ERR;
    }
    const char *user = NULL, *password = NULL;
    int got = pam_get_user(pam, &user, NULL);
    if (got != PAM_SUCCESS) return got == PAM_CONV_AGAIN ? PAM_INCOMPLETE : got;
    if (!is_name(user)) return PAM_USER_UNKNOWN;
    got = pam_get_authtok(pam, PAM_AUTHTOK, &password, NULL);
    if (got != PAM_SUCCESS) return got == PAM_CONV_AGAIN ? PAM_INCOMPLETE : got;
    if (!password || !*password) return PAM_AUTH_ERR;
    if (strlen(password) > LONGEST_PASSWORD) return PAM_AUTH_ERR;
    (void)flags;

    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return PAM_SYSTEM_ERR;
    pid_t helper = start_helper(ends[1]);
    close(ends[1]);
    int verdict = helper > 0 ? ask(ends[0], &options, user, password) : 0;
    close(ends[0]);
    if (helper > 0) {
        // After a whole answer it ends by itself. Where the program ignores or collects its children, this finds none.
        if (verdict == 0) kill(helper, SIGKILL);
        while (waitpid(helper, NULL, 0) < 0 && errno == EINTR) {}
    }
    return code_of(pam, verdict);
}

EXPORTED int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **words) {
    (void)pam, (void)flags, (void)count, (void)words;
    return PAM_SUCCESS;
}

/// Whether an account may be used is for the modules that know accounts.
EXPORTED int pam_sm_acct_mgmt(pam_handle_t *pam, int flags, int count, const char **words) {
    (void)pam, (void)flags, (void)count, (void)words;
    return PAM_IGNORE;
}
