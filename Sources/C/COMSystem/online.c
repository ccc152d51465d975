// Calls for a short-lived helper and its starter: socket pairs, waits that an event can end, process descriptors, limits.
#include "COMSystem.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int om_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

int om_socket_is_connected(int fd) {
    int kind = 0, domain = 0;
    socklen_t size = sizeof kind;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) return 0;
    size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return 0;
    if (kind != SOCK_STREAM || domain != AF_UNIX) return 0;
    struct sockaddr_storage peer;
    size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

// Like poll, but a signal does not end it: it continues for the rest of the time.
static int poll_for(struct pollfd *waiting, nfds_t count, int milliseconds) {
    int64_t end = om_boot_milliseconds() + milliseconds;
    while (1) {
        int got = poll(waiting, count, milliseconds);
        if (got >= 0 || errno != EINTR) return got;
        int64_t left = end - om_boot_milliseconds();
        milliseconds = left > 0 ? (int)left : 0;
    }
}

int om_socket_wait(int socket, int other, int milliseconds) {
    struct pollfd waiting[2] = {{socket, POLLIN, 0}, {other, POLLIN, 0}};
    int got = poll_for(waiting, 2, milliseconds);
    if (got <= 0) return got;
    return waiting[1].revents ? 2 : 1;
}

int om_socket_wait_for_end(int socket, int milliseconds) {
    struct pollfd waiting = {socket, POLLRDHUP, 0};
    return poll_for(&waiting, 1, milliseconds);
}

int om_event(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int om_event_raise(int event) {
    uint64_t one = 1;
    return write(event, &one, sizeof one) == sizeof one ? 0 : -1;
}

int om_process_descriptor(pid_t child) {
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    if (process < 0) return -1;
    // Attack: in a host that ignores SIGCHLD, a dead child disappears at once, and another process can get its number.
    // waitid accepts children only.
    siginfo_t unused;
    if (waitid(P_PIDFD, (id_t)process, &unused, WEXITED | WNOHANG | WNOWAIT) == 0) return process;
    close(process);
    errno = ESRCH;
    return -1;
}

int om_process_end(int process) {
    (void)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
    siginfo_t ended;
    while (waitid(P_PIDFD, (id_t)process, &ended, WEXITED) != 0) {
        if (errno != EINTR) return -1;
    }
    return 0;
}

static int limit(uint64_t file_bytes, uint64_t seconds, uint64_t memory) {
    const struct {
        int resource;
        rlim_t limit;
    } limits[] = {
        {RLIMIT_CORE, 0}, {RLIMIT_FSIZE, file_bytes}, {RLIMIT_NOFILE, 64}, {RLIMIT_DATA, memory}, {RLIMIT_CPU, seconds},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now;
        if (getrlimit(limits[i].resource, &now) != 0) return -1;
        // A limit that is already lower stays.
        if (now.rlim_max != RLIM_INFINITY && now.rlim_max <= limits[i].limit) continue;
        struct rlimit wanted = {limits[i].limit, limits[i].limit};
        if (setrlimit(limits[i].resource, &wanted) != 0) return -1;
    }
    return 0;
}

int om_limit_process(uint64_t file_bytes, uint64_t seconds) {
    return limit(file_bytes, seconds, 512 << 20);
}

int om_limit_reader(void) {
    return limit(0, 600, (uint64_t)2 << 30);
}
