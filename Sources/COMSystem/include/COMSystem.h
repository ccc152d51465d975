// What the rooms need from Linux and glibc does not hand to Swift: variadics, macros and feature-gated calls.
// Every function returns 0 or a non-negative value on success and -1 with errno set otherwise, unless it says so.
#ifndef COMSYSTEM_H
#define COMSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Maps `size` bytes (a multiple of the page size) between two guard pages, locked in memory, left out of core
/// dumps and zeroed in a forked child. `*locked` tells whether the lock was granted. NULL on failure.
void *om_secret_map(size_t size, bool *locked);
void om_secret_unmap(void *base, size_t size);

/// Zeroes memory in a way that the optimiser keeps.
void om_wipe(void *base, size_t size);

/// No core file, no backtrace, and no other process of this user may read our memory or attach to us.
int om_harden_process(void);

/// 1 when the descriptor's file system is a network one, where flock and fdatasync promise too little; 0 when not.
int om_is_on_network(int fd);

/// Seconds since boot, suspended time included, or -1.
int64_t om_boot_seconds(void);

/// Holds SIGINT, SIGTERM and SIGHUP back on this thread until the matching release.
int om_signals_hold(void *saved_mask, size_t saved_size);
int om_signals_release(const void *saved_mask, size_t saved_size);
/// Bytes that `saved_mask` needs.
size_t om_signal_mask_size(void);

/// Overwrites every value of the environment variable `name` where it stands, so that neither /proc/PID/environ nor a
/// child shows it any more, and removes the variable.
int om_environment_erase(const char *name);

/// Starts `arguments[0]`, looked up in PATH: standard input is /dev/null, standard output `output`, standard error
/// `error`; every other descriptor is closed and every signal has its default. The child's id, or -1.
pid_t om_spawn(char *const arguments[], int output, int error);
/// Waits for the child: its exit code, or 128 + the signal that ended it.
int om_wait(pid_t child);

#endif
