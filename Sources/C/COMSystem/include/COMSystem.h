// What the rooms need from Linux and glibc does not hand to Swift: variadics, macros and feature-gated calls.
// Every function returns 0 or a non-negative value on success and -1 with errno set otherwise, unless it says so.
#ifndef COMSYSTEM_H
#define COMSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What keeps the pages of a mapping from prying eyes.
enum om_secret_memory {
    /// The system refused to lock them: they could be written to swap.
    OM_MEMORY_PLAIN = 0,
    /// mlock: never in swap, but root reads them through /proc/PID/mem.
    OM_MEMORY_LOCKED = 1,
    /// memfd_secret: out of the kernel's own map too, so that not even root reads them from outside.
    OM_MEMORY_HIDDEN = 2,
};

/// Maps `size` bytes (a multiple of the page size) between two guard pages, left out of core dumps and gone or zeroed in
/// a forked child: hidden when `hide` asks for it and the system can, else locked, else plain; `*got` tells which. NULL
/// on failure.
void *om_secret_map(size_t size, bool hide, enum om_secret_memory *got);
void om_secret_unmap(void *base, size_t size);

/// Zeroes memory in a way that the optimiser keeps.
void om_wipe(void *base, size_t size);

/// No core file, no backtrace, and no other process of this user may read our memory or attach to us.
int om_harden_process(void);

/// No program that is started from here on gains rights by its set-user-id bit.
int om_no_new_privileges(void);

/// Overwrites the stack below the caller, where finished calls left their variables.
void om_wipe_stack(void);

/// 1 when the descriptor's file system lives in memory and is gone at reboot (tmpfs, ramfs); 0 when not.
int om_is_in_memory(int fd);

/// 1 when the descriptor's file system is a network one, where flock and fdatasync promise too little; 0 when not.
int om_is_on_network(int fd);

/// The wall clock and the time since boot, suspended time included, in nanoseconds and at one moment; -1 where the system
/// lacks one of them.
int om_clocks(int64_t *wall, int64_t *since_boot);

/// Holds every signal that a terminal, a hang-up, a resource limit or `kill` sends by default back on this thread until
/// the matching release. SIGKILL and SIGSTOP cannot be held.
int om_signals_hold(void *saved_mask, size_t saved_size);
int om_signals_release(const void *saved_mask, size_t saved_size);
/// Bytes that `saved_mask` needs.
size_t om_signal_mask_size(void);

/// Overwrites every value of the environment variable `name` where it stands, so that neither /proc/PID/environ nor a
/// child shows it any more, and removes the variable.
int om_environment_erase(const char *name);
/// The same for every variable whose name begins with `prefix`.
int om_environment_erase_all(const char *prefix);

/// Leaves the terminal, control group, resource limits, priority and signals of the program that started this one: a session of
/// its own, the root group, limits of its own, the usual priority, and the signals of om_signals_hold held for good. For a
/// process of root's with one thread.
int om_leave_caller(void);

/// Starts `arguments[0]`, looked up in PATH: standard input is /dev/null, standard output `output`, standard error
/// `error`; every other descriptor is closed and every signal has its default. The child's id, or -1.
pid_t om_spawn(char *const arguments[], int output, int error);
/// Waits for the child: its exit code, or 128 + the signal that ended it.
int om_wait(pid_t child);

// Goes on in a child of this process, which ends: whoever started it has nothing to wait for. -1 when it cannot. To be
// called before there is a second thread or a locked page.
int om_leave_parent(void);

/// Starts the program at the absolute `path` in a session of its own: standard input, output and error are /dev/null,
/// descriptor 3 is `ready`, every other one is closed, signals have their defaults. The child's id, or -1.
pid_t om_spawn_detached(const char *path, char *const arguments[], char *const environment[], int ready);

// Unix sockets. Every descriptor is close-on-exec.

/// A stream socket connected to `path`, waiting at most `milliseconds` while its queue is full.
int om_socket_connect(const char *path, int milliseconds);
/// A listening stream socket at `path`, mode 0600, which must not exist.
int om_socket_listen(const char *path, int backlog);
/// The next connection, or -1: EAGAIN when there is none.
int om_socket_accept(int listener);
/// 1 when the descriptor is a listening Unix stream socket, 0 when not. `path` gets its address.
int om_socket_is_listening(int fd, char *path, size_t capacity);
/// The user and process at the other end, as the kernel saw them when the connection was made.
int om_socket_peer(int fd, uid_t *user, pid_t *process);
/// Sends without waiting and without SIGPIPE; bytes sent, or -1.
ssize_t om_socket_send(int fd, const void *bytes, size_t count);
/// Receives without waiting; bytes received, 0 at the end, or -1.
ssize_t om_socket_receive(int fd, void *bytes, size_t count);

/// Two stream sockets connected to each other.
int om_socket_pair(int ends[2]);
/// 1 when the descriptor is one end of a connected Unix stream socket, 0 when not.
int om_socket_is_connected(int fd);
/// Waits until something arrives at `socket` or `other` (-1 for none), or the other end of `socket` is gone. 1 when
/// `socket` has something to say, 2 when `other` has, 0 after `milliseconds`.
int om_socket_wait(int socket, int other, int milliseconds);
/// Waits until the other end of `socket` is gone, for at most `milliseconds`: 1 when it is.
int om_socket_wait_for_end(int socket, int milliseconds);

/// A counter to wait for, and to raise from any thread.
int om_event(void);
int om_event_raise(int event);

/// No file, 64 descriptors, 512 MiB of memory, 60 seconds of processor time: for a process that reads what anybody may
/// have written.
int om_limit_process(void);

/// Kills the child behind a descriptor of its process, and waits for it. -1 when it was waited for already.
int om_process_end(int process);
/// A descriptor of the child: unlike its id, it never means another process later.
int om_process_descriptor(pid_t child);

// Confinement: for good, and for all that this process starts. To be called while there is one thread.

/// The uid under which root's helper runs; 0 where this user namespace has no other uid than root's.
uid_t om_helper_user(void);
/// Where this process is root's: goes on under `om_helper_user`, in no group but its own.
int om_leave_root(void);
/// No capability, neither now nor for a program that is started.
int om_drop_capabilities(void);
/// Landlock's version, 0 where the kernel has none: files from 1 on, TCP ports from 4, scopes from 6.
int om_landlock_version(void);
/// Files: none but those at and beneath `paths` (NULL at its end), and those for reading only. TCP: no port but `ports`, and
/// none to listen at. Scopes: no signal to another process, no abstract socket of another one. NULL and false leave the layer
/// out; so does a kernel that lacks it.
int om_landlock(const char *const *paths, const uint16_t *ports, size_t port_count, bool scopes);
/// Whether the kernel filters system calls, for a processor that we have a filter for.
bool om_has_filters(void);
/// Sockets: TCP and UDP over IPv4 and IPv6 only. To be called before `om_filter_calls`, which forbids further filters.
int om_filter_sockets(void);
/// System calls: threads, memory, time, reading files, using sockets. Every other one fails with EPERM, a newer one than
/// Linux 6.1's with ENOSYS.
int om_filter_calls(void);

/// A timer on the clock that counts suspended time too.
int om_boot_timer(void);
/// Makes the timer's descriptor readable at `seconds` since boot; 0 disarms it.
int om_boot_timer_set(int timer, int64_t seconds);
/// Milliseconds since boot, suspended time included.
int64_t om_boot_milliseconds(void);

/// A descriptor from which SIGTERM, SIGINT and SIGHUP are read; no thread that is started from here on gets them else.
int om_signal_descriptor(void);
/// The next signal's number from such a descriptor.
int om_signal_next(int fd);

/// A descriptor that is readable once a name in `folder`, or `folder` itself, was removed or renamed.
int om_removals(const char *folder);
/// Forgets what was seen so far.
void om_removals_seen(int fd);

// The kernel's keyring of this user: gone at reboot.

/// Adds or replaces the key; every process of this user may read it.
int om_keyring_put(const char *name, const void *bytes, size_t count);
/// The key's length, of which at most `capacity` bytes were copied, or -1: ENOKEY when there is none.
ssize_t om_keyring_get(const char *name, void *bytes, size_t capacity);
int om_keyring_remove(const char *name);

#endif
