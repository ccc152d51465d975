// A program that runs in the place of this one: it has the same terminal, process group and signals, and this process waits.
#include "COMSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int om_sealed_file(const void *bytes, size_t count) {
    int fd = memfd_create("secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    const unsigned char *next = bytes;
    for (size_t left = count; left > 0;) {
        ssize_t written = write(fd, next, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) goto failed;
        next += written;
        left -= (size_t)written;
    }
    if (lseek(fd, 0, SEEK_SET) != 0) goto failed;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) goto failed;
    return fd;
failed:;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

// The signals that are passed on. SIGTSTP and its like stop this process too, as they stop each process of a job.
// A signal that is missing here ends this process alone, and its files stay.
static const int passed[] = {SIGTERM, SIGINT,  SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
                             SIGWINCH, SIGABRT, SIGVTALRM, SIGPROF, SIGIO,   SIGXCPU, SIGPWR};

// A signal that nohup or a shell's background job ignores stays ignored, here and in the program.
static void hold(sigset_t *set, int signal) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(set, signal);
}

// Whether a user means the end of the program by it.
static int asks_for_end(int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT || signal == SIGABRT;
}

int om_child_signals(void *saved_mask, size_t saved_size) {
    if (saved_size != sizeof(sigset_t)) {
        errno = EINVAL;
        return -1;
    }
    // A parent that ignores SIGCHLD hands that down. Then no end of a child would be told, and none kept for the wait.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    if (sigaction(SIGCHLD, &standard, NULL) != 0) return -1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) hold(&set, passed[i]);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) hold(&set, signal);
    if (sigprocmask(SIG_BLOCK, &set, saved_mask) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int om_child_pass_on(int fd, pid_t child, int *asked) {
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) return 1;
        if (asks_for_end((int)info.ssi_signo)) *asked = 1;
        // The terminal sends its signals to each process of the job, so the program has this one already.
        if (info.ssi_code != SI_KERNEL) kill(child, (int)info.ssi_signo);
    }
    return 0;
}

int om_child_signal_ends(int fd) {
    struct signalfd_siginfo info;
    int ends = 0;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (asks_for_end((int)info.ssi_signo)) ends = 1;
    }
    return ends;
}

int om_child_ended(pid_t child, int *code) {
    int status;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) < 0 && errno == EINTR) {}
    if (ended < 0 && errno == ECHILD) {
        *code = 255;
        return 1;
    }
    if (ended != child) return 0;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 1;
}

pid_t om_child_start(char *const arguments[], char *const environment[], const int *from, const int *to, size_t count,
                     const void *mask) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t ours;
    // This process ignores them from its start on.
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    pid_t child = -1;
    int failure = 0;
    for (size_t i = 0; i < count && !failure; i++) failure = posix_spawn_file_actions_adddup2(&files, from[i], to[i]);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &ours);
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, mask);
    if (!failure) failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!failure) failure = posix_spawnp(&child, arguments[0], &files, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    errno = failure;
    return failure ? -1 : child;
}

int om_become(char *const arguments[], char *const environment[], const int *from, const int *to, size_t count) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &standard, NULL);
    sigaction(SIGXFSZ, &standard, NULL);
    for (size_t i = 0; i < count; i++) {
        if (dup2(from[i], to[i]) < 0) return errno;
    }
    execvpe(arguments[0], arguments, environment);
    return errno;
}

int om_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
