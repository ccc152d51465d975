// Detaches a root process from its caller's terminal, control group, resource limits, priority and signals.
#include "COMSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void put_zero(const char *path) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t ignored = write(file, "0", 1);
    (void)ignored;
    close(file);
}

// Attack: a user starts su in a control group that is delegated to the user, as `systemd --user` does. Between charge and
// settlement the user freezes or kills the whole group, with root's helper in it. Or the user gives the group so little
// memory or processor time that the helper dies, or holds the locks of others' logins for long. The user can neither control
// a process in the root group nor move it out, so the helper moves there.
//
// Best effort, because a refusal would end every login in a container that lacks this file or has it read-only. No user can
// cause that: only root changes the mounts and the place of the root group. In such a container, and with a delegated group
// of version 1, the attack stays open. It gains no guess: the charge is on the disk.
static void leave_control_group(void) {
    put_zero("/sys/fs/cgroup/cgroup.procs");
    // The path of version 2 beside version 1.
    put_zero("/sys/fs/cgroup/unified/cgroup.procs");
}

// Attack: a user slows the helper with `chrt --idle 0 su`, `nice`, `ionice`, `taskset` or a timer slack of hours, so that it
// holds the locks of all others for long. With `choom -n 1000` and all memory in use, the kernel kills the helper first.
// Best effort: a container may forbid the change.
static void leave_priority(void) {
    enum { OWN_PROCESS = 1, NO_CLASS = 0, ORDINARY_SLACK = 50000 };
    const struct sched_param ordinary = {0};
    cpu_set_t every;
    memset(&every, 0xff, sizeof every);
    (void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
    (void)setpriority(PRIO_PROCESS, 0, 0);
    (void)sched_setaffinity(0, sizeof every, &every);
    (void)syscall(SYS_ioprio_set, OWN_PROCESS, 0, NO_CLASS);
    (void)prctl(PR_SET_TIMERSLACK, ORDINARY_SLACK, 0, 0, 0);
    put_zero("/proc/self/oom_score_adj");
}

int om_leave_caller(void) {
    // Attack: a user presses Ctrl-\ or Ctrl-Z at su's terminal, and the signal goes to the whole foreground group, whatever
    // uid its processes have. A process in its own session does not get it.
    if (setsid() < 0 && getsid(0) != getpid()) return -1;
    leave_control_group();
    // Attack: a user sets `ulimit -f` or `ulimit -t` just above the needs of the charge, so that the limit kills the
    // settlement. Limits survive su, so this process sets its own.
    const struct {
        int resource;
        rlim_t limit;
    } limits[] = {
        {RLIMIT_FSIZE, (rlim_t)1 << 30},
        {RLIMIT_CPU, 600},
        {RLIMIT_NOFILE, 256},
        // Argon2id takes 1 GiB at most.
        {RLIMIT_AS, (rlim_t)4 << 30},
        {RLIMIT_DATA, (rlim_t)2 << 30},
        {RLIMIT_STACK, 8 << 20},
        {RLIMIT_RTTIME, RLIM_INFINITY},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit wanted = {limits[i].limit, limits[i].limit};
        if (setrlimit(limits[i].resource, &wanted) != 0) return -1;
    }
    leave_priority();
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return -1;
    sigset_t before;
    return om_signals_hold(&before, sizeof before);
}
