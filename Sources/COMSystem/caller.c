// Detaches a root process from its caller's terminal, resource limits, priority and signals.
#include "COMSystem.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int om_leave_caller(void) {
    // Attack: Ctrl-\ or Ctrl-Z at the terminal where su runs. Its signals go to the whole foreground group, whatever uid.
    if (setsid() < 0 && getsid(0) != getpid()) return -1;
    // Attack: `ulimit -f` or `ulimit -t` just above what the charge takes kills the settlement. Limits survive su.
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
    // Attack: `chrt --idle 0 su`, `nice` or `taskset` beside busy loops has the helper keep the locks of all others for long.
    // Best effort: a container may forbid it.
    const struct sched_param ordinary = {0};
    cpu_set_t every;
    memset(&every, 0xff, sizeof every);
    (void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
    (void)setpriority(PRIO_PROCESS, 0, 0);
    (void)sched_setaffinity(0, sizeof every, &every);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return -1;
    sigset_t before;
    return om_signals_hold(&before, sizeof before);
}
