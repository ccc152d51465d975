// The attempts of a process that an attacker took over: on files, sockets, processes, keys and ports.
#include "attempts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[4096];
static size_t folder_length;
static int open_port, closed_port;
static pid_t victim;
static int last_end = -1;
static volatile uint64_t word = 42;
static struct sockaddr_un abstract;
static socklen_t abstract_length;

static void must(long result, const char *what) {
    if (result >= 0) return;
    perror(what);
    exit(3);
}

static const char *in_folder(const char *name) {
    snprintf(path + folder_length, sizeof path - folder_length, "/%s", name);
    return path;
}

static int listener_at(const struct sockaddr *address, socklen_t length) {
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd, "socket");
    must(bind(fd, address, length), "bind");
    must(listen(fd, 8), "listen");
    return fd;
}

static struct sockaddr_in at_port(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int listening_port(void) {
    struct sockaddr_in address = at_port(0);
    socklen_t length = sizeof address;
    int fd = listener_at((struct sockaddr *)&address, length);
    must(getsockname(fd, (struct sockaddr *)&address, &length), "getsockname");
    return ntohs(address.sin_port);
}

static struct sockaddr_un agent_address(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", in_folder("agent.sock"));
    return address;
}

void attempts_prepare(const char *folder) {
    folder_length = strlen(strncpy(path, folder, sizeof path - 64));
    const char *names[] = {"device.key", "mark", "old"};
    for (int i = 0; i < 3; i++) {
        int file = open(in_folder(names[i]), O_WRONLY | O_CREAT | O_EXCL, 0600);
        must(file, names[i]);
        must(write(file, "secret", 6), names[i]);
        close(file);
    }
    open_port = listening_port();
    closed_port = listening_port();
    mode_t mask = umask(0177);
    struct sockaddr_un agent = agent_address();
    listener_at((struct sockaddr *)&agent, sizeof agent);
    umask(mask);
    abstract.sun_family = AF_UNIX;
    int length = snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "confined-worker-%d", getpid());
    abstract_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    listener_at((struct sockaddr *)&abstract, abstract_length);
    must(syscall(SYS_add_key, "user", "confined-worker", "secret", 6, KEY_SPEC_PROCESS_KEYRING), "add_key");
    victim = attempt_child(0);
}

uint16_t attempts_open_port(void) {
    return (uint16_t)open_port;
}

static void tried(const char *name, long result) {
    printf("%s %d\n", name, result < 0 ? errno : 0);
}

static long try_connect(const struct sockaddr *address, socklen_t length) {
    int fd = socket(address->sa_family, SOCK_STREAM, 0);
    return fd < 0 ? fd : connect(fd, address, length);
}

static long try_port(int port) {
    struct sockaddr_in address = at_port(port);
    return try_connect((struct sockaddr *)&address, sizeof address);
}

int attempt_connect(uint16_t port) {
    return try_port(port) < 0 ? errno : 0;
}

// With data in its first packet a connection needs no connect.
static long try_fast(int port) {
    struct sockaddr_in address = at_port(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? fd : sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address);
}

static long try_agent(void) {
    struct sockaddr_un address = agent_address();
    return try_connect((struct sockaddr *)&address, sizeof address);
}

static long try_listening(void) {
    struct sockaddr_in address = at_port(0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? fd : bind(fd, (struct sockaddr *)&address, sizeof address);
}

static long try_memory(void) {
    uint64_t got = 0;
    struct iovec here = {&got, sizeof got}, there = {(void *)&word, sizeof word};
    return process_vm_readv(victim, &here, 1, &there, 1, 0);
}

static long try_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child;
}

static long try_rename(void) {
    char old[sizeof path];
    strcpy(old, in_folder("old"));
    return rename(old, in_folder("renamed"));
}

static long try_process_file(pid_t process, const char *name) {
    char file[64];
    snprintf(file, sizeof file, "/proc/%d/%s", process, name);
    return open(file, O_RDONLY);
}

// The thread's number differs from the process's: /proc/self is no folder above its file.
static void *open_own_state(void *error) {
    *(int *)error = try_process_file((pid_t)syscall(SYS_gettid), "stat") < 0 ? errno : 0;
    return NULL;
}

static long try_own_thread(void) {
    pthread_t thread;
    int error = 0, failed = pthread_create(&thread, NULL, open_own_state, &error);
    if (!failed) pthread_join(thread, NULL);
    errno = failed ? failed : error;
    return errno ? -1 : 0;
}

static void try_all(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    tried("device-key", open(in_folder("device.key"), O_RDONLY));
    tried("write", open(in_folder("device.key"), O_WRONLY));
    tried("truncate", open(in_folder("device.key"), O_RDONLY | O_TRUNC));
    tried("create", open(in_folder("new"), O_RDONLY | O_CREAT, 0600));
    tried("unlink", unlink(in_folder("mark")));
    tried("rename", try_rename());
    tried("agent", try_agent());
    tried("abstract", try_connect((struct sockaddr *)&abstract, abstract_length));
    tried("memory", try_memory());
    tried("environment", try_process_file(victim, "environ"));
    tried("signal", kill(victim, SIGWINCH));
    tried("limits", syscall(SYS_prlimit64, victim, 7, NULL, NULL));
    tried("keyring", syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_PROCESS_KEYRING, "user", "confined-worker", 0));
    tried("fork", try_fork());
    tried("port", try_port(open_port));
    tried("other-port", try_port(closed_port));
    tried("other-port-fast", try_fast(closed_port));
    tried("other-protocol", socket(AF_INET, SOCK_STREAM, 262 /* MPTCP */));
    tried("name-server", socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
    tried("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    tried("pair", socketpair(AF_UNIX, SOCK_DGRAM, 0, (int[2]){0}));
    tried("listening", try_listening());
    tried("own-thread", try_own_thread());
    tried("certificates", open("/etc/ssl/certs/ca-certificates.crt", O_RDONLY));
    tried("hosts", open("/etc/hosts", O_RDONLY));
    tried("new-call", syscall(999));
}

static long try_list(const char *name) {
    DIR *folder = opendir(in_folder(name));
    if (!folder) return -1;
    errno = 0;
    (void)readdir(folder);
    int error = errno;
    closedir(folder);
    errno = error;
    return error ? -1 : 0;
}

static long try_two(int call(const char *, const char *), const char *from, const char *to) {
    char first[sizeof path];
    strcpy(first, in_folder(from));
    return call(first, in_folder(to));
}

// In the folder that the confinement allows, and between it and others.
static void try_remote(void) {
    const int new_file = O_WRONLY | O_CREAT | O_EXCL;
    tried("in-list", try_list("remote"));
    tried("in-new", open(in_folder("remote/new"), new_file, 0600));
    tried("in-read", open(in_folder("remote/new"), O_RDONLY));
    tried("in-folder", mkdir(in_folder("remote/inner"), 0700));
    tried("in-inner", open(in_folder("remote/inner/new"), new_file, 0600));
    tried("in-rename", try_two(rename, "remote/new", "remote/named"));
    tried("in-link", symlink("/", in_folder("remote/link")));
    tried("in-pipe", mkfifo(in_folder("remote/pipe"), 0600));
    tried("out-list", try_list("."));
    tried("out-new", open(in_folder("made"), new_file, 0600));
    tried("out-folder", mkdir(in_folder("made-folder"), 0700));
    tried("out-read-write", open(in_folder("device.key"), O_RDWR));
    tried("out-hard-link", try_two(link, "device.key", "remote/hard-link"));
    tried("out-rename", try_two(rename, "remote/named", "named"));
    tried("in-remove", unlink(in_folder("remote/inner/new")));
    tried("in-remove-folder", rmdir(in_folder("remote/inner")));
}

// The last attempt: a success ends this process.
static void try_program(const char *name) {
    kill(victim, SIGKILL);
    execl(in_folder(name), "id", "-u", NULL);
    printf("exec %d\n", errno);
}

void attempts_run(void) {
    try_all();
    try_program("id");
}

void attempts_run_remote(void) {
    try_all();
    try_remote();
    try_program("remote/id");
}


void attempt_address(const char *name) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int failure = getaddrinfo(name, "1", &hints, &found);
    char text[64] = "";
    if (failure == 0) failure = getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    printf("%s %s\n", name, failure == 0 ? text : gai_strerror(failure));
}

pid_t attempt_child(pid_t wanted) {
    struct clone_args how = {
        .exit_signal = SIGCHLD, .set_tid = wanted ? (uint64_t)&wanted : 0, .set_tid_size = wanted ? 1 : 0,
    };
    int ends[2];
    must(pipe2(ends, O_CLOEXEC), "pipe");
    pid_t child = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    must(child, "clone3");
    if (child != 0) {
        close(ends[0]);
        last_end = ends[1];
        return child;
    }
    // The child ends with its parent. A confined parent may not even signal it, and the kernel's own signal is refused too.
    close(ends[1]);
    char none;
    while (read(ends[0], &none, 1) < 0) {}
    _exit(0);
}

// A sent signal acts before the end of the pipe, however late the kernel delivers it.
int attempt_is_alive(pid_t child) {
    int status = 0;
    close(last_end);
    return waitpid(child, &status, 0) == child && WIFEXITED(status);
}
