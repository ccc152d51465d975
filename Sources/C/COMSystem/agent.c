// Calls for an agent: Unix sockets with peers, a timer on the boot clock, signals as a descriptor, the user's keyring.
#include "COMSystem.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int address_of(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

static int closing(int fd) {
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

int om_socket_connect(const char *path, int milliseconds) {
    struct sockaddr_un address;
    if (address_of(path, &address) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR) continue;
        // poll cannot wait until a Unix socket's full queue has room.
        if (errno != EAGAIN || milliseconds <= 0) return closing(fd);
        struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
        milliseconds -= 5;
    }
    return fd;
}

int om_socket_listen(const char *path, int backlog) {
    struct sockaddr_un address;
    if (address_of(path, &address) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    mode_t mask = umask(0177);
    int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (bound != 0 || listen(fd, backlog) != 0) return closing(fd);
    return fd;
}

int om_socket_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int om_loopback_listen(bool is_six, uint16_t port) {
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int yes = 1;
    // SO_REUSEADDR, since connections of a login before this one may still wait for their end at the port. No SO_REUSEPORT: with it
    // another process of this user could take a part of the connections.
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) return closing(fd);
    if (is_six && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0) return closing(fd);
    int bound = is_six ? bind(fd, (struct sockaddr *)&six, sizeof six) : bind(fd, (struct sockaddr *)&four, sizeof four);
    if (bound != 0 || listen(fd, 16) != 0) return closing(fd);
    return fd;
}

uint16_t om_loopback_port(int fd) {
    int kind = 0, listening = 0;
    socklen_t size = sizeof kind;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_STREAM) return 0;
    size = sizeof listening;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || !listening) return 0;
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
    size = sizeof address;
    if (getsockname(fd, &address.any, &size) != 0) return 0;
    if (address.any.sa_family == AF_INET && address.four.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) {
        return ntohs(address.four.sin_port);
    }
    if (address.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address.six.sin6_addr)) return ntohs(address.six.sin6_port);
    return 0;
}

int om_socket_is_listening(int fd, char *path, size_t capacity) {
    int kind = 0, domain = 0, listening = 0;
    socklen_t size = sizeof kind;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) return 0;
    size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return 0;
    size = sizeof listening;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0) return 0;
    if (kind != SOCK_STREAM || domain != AF_UNIX || !listening || capacity == 0) return 0;
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 || address.sun_path[0] != '/') return 0;
    if (strnlen(address.sun_path, sizeof address.sun_path) >= capacity) return 0;
    memcpy(path, address.sun_path, sizeof address.sun_path < capacity ? sizeof address.sun_path : capacity);
    path[capacity - 1] = 0;
    return 1;
}

int om_socket_peer(int fd, uid_t *user, pid_t *process) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}

int om_socket_peer_descriptor(int fd) {
    int descriptor = -1;
    socklen_t size = sizeof descriptor;
    // SO_PEERPIDFD, Linux 6.5. Older kernels know only the number.
    if (getsockopt(fd, SOL_SOCKET, 77, &descriptor, &size) == 0) return descriptor;
    struct ucred peer;
    size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    return om_other_process_descriptor(peer.pid);
}

int om_other_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

bool om_process_runs(int descriptor) {
    struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
    return poll(&waiting, 1, 0) == 0;
}

ssize_t om_socket_send(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t om_socket_receive(int fd, void *bytes, size_t count) {
    return recv(fd, bytes, count, MSG_DONTWAIT);
}

ssize_t om_socket_send_descriptors(int fd, const void *bytes, size_t count, const int *descriptors, size_t number) {
    if (number > OM_SENT_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * OM_SENT_DESCRIPTORS)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec data = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (number > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * number);
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int) * number);
        memcpy(CMSG_DATA(part), descriptors, sizeof(int) * number);
    }
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t om_socket_receive_descriptors(int fd, void *bytes, size_t count, int *descriptors, size_t capacity, size_t *received, bool *is_cut) {
    *received = 0;
    *is_cut = false;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * OM_SENT_DESCRIPTORS)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec data = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
        .msg_controllen = capacity == 0 ? 0 : sizeof control};
    ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    // The kernel has closed descriptors for which there was no room here, or none in this process.
    *is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < number; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + index * sizeof(int), sizeof(int));
            if (*received < capacity) descriptors[(*received)++] = descriptor;
            else close(descriptor);
        }
    }
    return got;
}

int om_boot_timer(void) {
    return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

int om_boot_timer_set(int timer, int64_t seconds) {
    struct itimerspec at = {{0, 0}, {seconds, 0}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

int om_signal_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    int failure = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failure != 0) {
        errno = failure;
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int om_signal_next(int fd) {
    struct signalfd_siginfo got;
    ssize_t count = read(fd, &got, sizeof got);
    return count == sizeof got ? (int)got.ssi_signo : -1;
}

int om_removals(const char *folder) {
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return -1;
    if (inotify_add_watch(fd, folder, IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_ONLYDIR) < 0) return closing(fd);
    return fd;
}

void om_removals_seen(int fd) {
    char events[4096];
    while (read(fd, events, sizeof events) > 0) {}
}

// glibc has no keyctl; libkeyutils would be a dependency for three calls.

static long find_key(const char *name) {
    return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
}

int om_keyring_put(const char *name, const void *bytes, size_t count) {
    long key = syscall(SYS_add_key, "user", name, bytes, count, KEY_SPEC_USER_KEYRING);
    if (key < 0) return -1;
    // The key's possessor and its user may do everything: a process whose session does not possess @u, such as a service,
    // still has the same user.
    return syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000UL) == 0 ? 0 : -1;
}

ssize_t om_keyring_get(const char *name, void *bytes, size_t capacity) {
    long key = find_key(name);
    if (key < 0) return -1;
    return syscall(SYS_keyctl, KEYCTL_READ, key, bytes, capacity);
}

int om_keyring_remove(const char *name) {
    long key = find_key(name);
    if (key < 0) return errno == ENOKEY ? 0 : -1;
    // Invalidated, not only unlinked: a process with another link to the key cannot read it any more.
    return syscall(SYS_keyctl, KEYCTL_INVALIDATE, key) == 0 ? 0 : -1;
}
