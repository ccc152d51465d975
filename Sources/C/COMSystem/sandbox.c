// A sandbox for the user's editor: namespaces in which every file that the editor writes is in memory, and ends with them.
#include "COMSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// Attack, or accident: the editor hands the path to a process outside the sandbox (emacsclient, code), and that process
// writes the secret to a new file at the same path on a disk. No process, not even root's, can make a file in procfs.
#define ROOT "/proc/fs"
#define FOLDER ROOT "/omvault"

// What the two ends say to each other. The sandbox says one of the first four.
enum { READY, REFUSED, ENDED, STOPPED, RUN, CONTINUE };
struct message {
    int32_t kind, value, error;
};

static bool say(int control, int32_t kind, int32_t value, int32_t error) {
    struct message message = {kind, value, error};
    return send(control, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

static bool hear(int control, struct message *message) {
    ssize_t got;
    while ((got = recv(control, message, sizeof *message, 0)) < 0 && errno == EINTR) {}
    return got == sizeof *message;
}

// MARK: - Inside, before the editor

static int put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t count = (ssize_t)strlen(text), written = write(fd, text, (size_t)count);
    int error = errno;
    close(fd);
    errno = error;
    return written == count ? 0 : -1;
}

// The user keeps the same number inside.
static int map_user(uid_t user, gid_t group) {
    char line[64];
    // Only a process that may be traced can write its map. This process has no secret yet: the sandbox is made before a vault is
    // opened, and a fork does not get the pages of secrets.
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || put("/proc/self/setgroups", "deny") != 0) return -1;
    snprintf(line, sizeof line, "%u %u 1", group, group);
    if (put("/proc/self/gid_map", line) != 0) return -1;
    snprintf(line, sizeof line, "%u %u 1", user, user);
    if (put("/proc/self/uid_map", line) != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Attack, or accident: the editor crashes, and the system hands its memory to a program that stores it on a disk, whatever the
// limit of core files is. With this filter a core file has no memory. An exec keeps the filter. The editor cannot change it,
// because /proc is read-only by then.
static int leave_memory_out_of_cores(void) {
    // Only a process that may be traced can write it, and this one has no secret yet.
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || put("/proc/self/coredump_filter", "0") != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int set_read_only(const char *path, unsigned flags, bool read_only) {
    struct mount_attr change = {0};
    *(read_only ? &change.attr_set : &change.attr_clr) = MOUNT_ATTR_RDONLY;
    return mount_setattr(AT_FDCWD, path, flags, &change, sizeof change);
}

// What is in the folder can still be read. A write goes to memory. If the kernel refuses, `hides` says whether an empty folder in
// memory covers it; otherwise it stays read-only. In no case the editor can write to the folder itself.
static void cover(const char *path, int number, bool hides) {
    char upper[64], work[64], options[256];
    if (!path || path[0] != '/' || path[1] == 0 || chdir(path) != 0) return;
    snprintf(upper, sizeof upper, ROOT "/upper%d", number);
    snprintf(work, sizeof work, ROOT "/work%d", number);
    if (mkdir(upper, 0700) != 0 || mkdir(work, 0700) != 0) return;
    // The current folder has no comma or colon in its name, which would need an escape.
    snprintf(options, sizeof options, "lowerdir=.,upperdir=%s,workdir=%s,userxattr", upper, work);
    if (mount("overlay", path, "overlay", MS_NOSUID | MS_NODEV, options) == 0 || !hides) return;
    (void)mount(upper, path, NULL, MS_BIND, NULL);
}

static bool is_beneath(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return path && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// Editors keep swap files, backups, undo files and histories in these folders.
static void cover_usual_places(const char *home) {
    static const char *const shared[] = {"/tmp", "/var/tmp", "/dev/shm"};
    enum { SHARED = sizeof shared / sizeof *shared };
    // A socket that is seen through an overlay takes no connection.
    int display = open("/tmp/.X11-unix", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_covered = false;
    for (int i = 0; i < SHARED; i++) {
        cover(shared[i], i, true);
        if (is_beneath(home, shared[i])) is_covered = true;
    }
    if (!is_covered) cover(home, SHARED, false);
    if (display < 0) return;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", display);
    (void)mount(path, "/tmp/.X11-unix", NULL, MS_BIND, NULL);
    close(display);
}

// Returns the step that failed, with errno, or 0.
static enum om_sandbox_step prepare(const char *home, const char *current) {
    // Attack, or accident: a disk that is mounted later appears inside, and the editor can write to it.
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return OM_SANDBOX_MOUNT;
    // ramfs has no pages in swap, in any version of Linux, and an ordinary user may mount it.
    if (mount("ramfs", ROOT, "ramfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") != 0) return OM_SANDBOX_MOUNT;
    if (mkdir(FOLDER, 0700) != 0) return OM_SANDBOX_MOUNT;
    // Attack, or accident: the editor writes its swap file, backup or history with the secret to a disk.
    if (set_read_only("/", AT_RECURSIVE, true) != 0) return OM_SANDBOX_READ_ONLY;
    if (set_read_only(ROOT, 0, false) != 0) return OM_SANDBOX_READ_ONLY;
    cover_usual_places(home);
    if (chdir(current) != 0 && chdir("/") != 0) return OM_SANDBOX_MOUNT;
    // Attack: the editor, or a program that it starts, makes a disk writable again.
    if (om_no_new_privileges() != 0 || om_drop_capabilities() != 0) return OM_SANDBOX_RIGHTS;
    struct rlimit now, wanted = {OM_SANDBOX_FILE, OM_SANDBOX_FILE};
    if (getrlimit(RLIMIT_FSIZE, &now) != 0) return OM_SANDBOX_RIGHTS;
    // ramfs has no limit of its own.
    if (now.rlim_max == RLIM_INFINITY || now.rlim_max > wanted.rlim_max) {
        if (setrlimit(RLIMIT_FSIZE, &wanted) != 0) return OM_SANDBOX_RIGHTS;
    }
    return 0;
}

// Sends that it is ready, with a descriptor of the folder.
static bool hand_over_folder(int control) {
    int folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return false;
    struct message ready = {READY, 0, 0};
    struct iovec bytes = {&ready, sizeof ready};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } part = {0};
    struct msghdr packet = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &part, .msg_controllen = sizeof part};
    part.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&part.head), &folder, sizeof folder);
    bool sent = sendmsg(control, &packet, MSG_NOSIGNAL) == sizeof ready;
    close(folder);
    return sent;
}

// MARK: - Inside, with the editor

// The editor gets the terminal. Standard output carries data only, so without a terminal the editor's output is an error output.
static void use_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int nothing = terminal < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (!isatty(STDIN_FILENO)) dup2(terminal >= 0 ? terminal : nothing, STDIN_FILENO);
    if (!isatty(STDOUT_FILENO)) dup2(terminal >= 0 ? terminal : STDERR_FILENO, STDOUT_FILENO);
}

static pid_t start(char *const arguments[]) {
    pid_t editor = fork();
    if (editor != 0) return editor;
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    use_terminal();
    setenv("TMPDIR", "/tmp", 1);
    execv(arguments[0], arguments);
    _exit(127);
}

// Ends everything that the editor left running, so that nothing changes the file while it is read.
static void end_others(void) {
    while (kill(-1, SIGKILL) == 0) {
        while (waitpid(-1, NULL, 0) > 0) {}
    }
}

// The first process of the namespace. When it ends, the kernel kills all others.
static _Noreturn void serve(int control, char *const arguments[]) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_SETMASK, &children, NULL);
    struct pollfd waiting[2] = {{control, POLLIN, 0}, {signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0}};
    pid_t editor = -1;
    while (1) {
        if (poll(waiting, 2, -1) < 0) continue;
        struct signalfd_siginfo unused;
        while (read(waiting[1].fd, &unused, sizeof unused) > 0) {}
        int status;
        pid_t child;
        while ((child = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
            if (child != editor) continue;
            if (WIFSTOPPED(status)) {
                say(control, STOPPED, 0, 0);
            } else {
                end_others();
                editor = -1;
                say(control, ENDED, status, 0);
                break;
            }
        }
        if (!waiting[0].revents) continue;
        struct message message;
        if (!hear(control, &message)) _exit(0);
        if (message.kind == RUN) {
            editor = start(arguments);
            if (editor < 0) say(control, ENDED, 127 << 8, 0);
        } else {
            kill(-1, SIGCONT);
        }
    }
}

struct plan {
    char *const *arguments;
    const char *home, *current;
    bool own_user;
    uid_t user;
    gid_t group;
};

static _Noreturn void live_inside(int control, const struct plan *plan) {
    // Attack: a program that the editor starts inherits the descriptor of the vault's file or of the agent's socket.
    if (control > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, (unsigned)control - 1, 0);
    close_range((unsigned)control + 1, ~0U, 0);
    (void)prctl(PR_SET_NAME, "omvault-edit", 0, 0, 0);
    // Attack, or accident: the program that started omvault ignores SIGCHLD. Then the kernel reports no end of the editor, and
    // omvault waits for ever with the secret in memory.
    signal(SIGCHLD, SIG_DFL);
    enum om_sandbox_step failed = 0;
    if (leave_memory_out_of_cores() != 0) failed = OM_SANDBOX_RIGHTS;
    if (!failed && plan->own_user && map_user(plan->user, plan->group) != 0) failed = OM_SANDBOX_USER;
    if (!failed) failed = prepare(plan->home, plan->current);
    // Attack: omvault is killed while the editor runs, and the secret stays in memory. Its end is the end of this process,
    // and this process's end is the end of every process and file here.
    if (!failed && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) failed = OM_SANDBOX_RIGHTS;
    if (failed) {
        say(control, REFUSED, (int32_t)failed, errno);
        _exit(1);
    }
    // If omvault ended before the line above, the socket has no other end.
    if (!hand_over_folder(control)) _exit(1);
    serve(control, plan->arguments);
}

// MARK: - Outside

// A process without the memory of this one's secrets: their pages are empty in a fork.
static pid_t fork_into(unsigned long namespaces) {
    return (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
}

static bool take_folder(struct om_sandbox *made, struct message *answer) {
    struct iovec bytes = {answer, sizeof *answer};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } part;
    struct msghdr packet = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &part, .msg_controllen = sizeof part};
    ssize_t got;
    while ((got = recvmsg(made->control, &packet, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
    if (got != sizeof *answer) return false;
    struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
    if (head && head->cmsg_type == SCM_RIGHTS) memcpy(&made->folder, CMSG_DATA(head), sizeof made->folder);
    return true;
}

int om_sandbox_make(
    char *const arguments[], const char *home, const char *current, struct om_sandbox *made, enum om_sandbox_step *failed) {
    int ends[2];
    *failed = OM_SANDBOX_PROCESS;
    *made = (struct om_sandbox){-1, -1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    const unsigned long namespaces = CLONE_NEWNS | CLONE_NEWPID;
    struct plan plan = {arguments, home, current, geteuid() != 0, geteuid(), getegid()};
    pid_t process = fork_into(plan.own_user ? namespaces | CLONE_NEWUSER : namespaces);
    if (process < 0 && !plan.own_user && errno == EPERM) {
        // Root of a container may lack the right.
        plan.own_user = true;
        process = fork_into(namespaces | CLONE_NEWUSER);
    }
    if (process == 0) live_inside(ends[1], &plan);
    int error = errno;
    close(ends[1]);
    made->control = ends[0];
    made->process = process;
    struct message answer = {REFUSED, OM_SANDBOX_PROCESS, error};
    if (process > 0 && !take_folder(made, &answer)) answer = (struct message){REFUSED, OM_SANDBOX_PROCESS, EIO};
    if (answer.kind == READY && made->folder >= 0) return 0;
    om_sandbox_end(made);
    *failed = (enum om_sandbox_step)answer.value;
    errno = answer.error;
    return -1;
}

static volatile sig_atomic_t continued;

static void note_continue(int number) {
    (void)number;
    continued = 1;
}

int om_sandbox_run(const struct om_sandbox *sandbox) {
    // Ctrl-C and Ctrl-\ are the editor's. Ctrl-Z stops the editor and this process alike: they are one process group.
    struct sigaction ignored = {.sa_handler = SIG_IGN}, noted = {.sa_handler = note_continue, .sa_flags = SA_RESTART};
    const int numbers[] = {SIGINT, SIGQUIT, SIGTTOU, SIGCONT};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct sigaction before[COUNT];
    for (int i = 0; i < COUNT; i++) sigaction(numbers[i], numbers[i] == SIGCONT ? &noted : &ignored, &before[i]);
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios state;
    bool has_state = terminal >= 0 && tcgetattr(terminal, &state) == 0;
    const pid_t foreground = terminal >= 0 ? tcgetpgrp(terminal) : -1;
    continued = 0;
    // A process that was killed has no answer. Its editor was killed with it.
    int status = SIGKILL;
    struct message message;
    bool runs = say(sandbox->control, RUN, 0, 0);
    while (runs && hear(sandbox->control, &message)) {
        if (message.kind == ENDED) {
            status = message.value;
            break;
        }
        // Only the editor was stopped. The shell waits for this process, so this one and its group stop too. If this process
        // was stopped as well, it has been continued by now.
        if (!continued) kill(0, SIGTSTP);
        continued = 0;
        say(sandbox->control, CONTINUE, 0, 0);
    }
    // A killed editor leaves the terminal without echo. A killed shell inside the editor keeps the terminal, and then omvault can
    // neither ask nor be ended with Ctrl-C.
    if (foreground == getpgrp()) tcsetpgrp(terminal, foreground);
    if (has_state && status != 0) tcsetattr(terminal, TCSADRAIN, &state);
    if (terminal >= 0) close(terminal);
    for (int i = 0; i < COUNT; i++) sigaction(numbers[i], &before[i], NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void om_sandbox_end(struct om_sandbox *sandbox) {
    if (sandbox->control >= 0) close(sandbox->control);
    if (sandbox->folder >= 0) close(sandbox->folder);
    if (sandbox->process > 0) {
        kill(sandbox->process, SIGKILL);
        while (waitpid(sandbox->process, NULL, 0) < 0 && errno == EINTR) {}
    }
    *sandbox = (struct om_sandbox){-1, -1, -1};
}
