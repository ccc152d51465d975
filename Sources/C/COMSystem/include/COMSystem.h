// Calls of Linux and glibc that Swift cannot make itself: variadic functions, macros and feature-gated calls.
// Unless its comment says otherwise, a function returns 0 or a positive value on success, and -1 with errno set on failure.
#ifndef COMSYSTEM_H
#define COMSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The protection of a mapping's pages.
enum om_secret_memory {
    /// The system refused to lock them: they could be written to swap.
    OM_MEMORY_PLAIN = 0,
    /// mlock: never in swap, but root can read them through /proc/PID/mem.
    OM_MEMORY_LOCKED = 1,
    /// memfd_secret: also removed from the kernel's own map, so even root cannot read them from outside.
    OM_MEMORY_HIDDEN = 2,
};

/// Maps `size` bytes, a multiple of the page size, between two guard pages. Core dumps leave them out; in a forked child
/// they are unmapped or zeroed. They are hidden if `hide` asks for it and the system can do it, else locked, else plain;
/// `*got` says which. NULL on failure.
void *om_secret_map(size_t size, bool hide, enum om_secret_memory *got);
void om_secret_unmap(void *base, size_t size);

/// Zeroes memory; the optimiser cannot remove the call.
void om_wipe(void *base, size_t size);

/// Turns off core files and backtraces, and keeps this user's other processes from reading this one's memory or attaching
/// to it.
int om_harden_process(void);
/// 1 if this process writes no core file, and if this user's other processes can neither read its memory nor attach to it;
/// else 0.
int om_is_hardened(void);

/// From this call on, no program that this process starts gains rights by its set-user-id bit.
int om_no_new_privileges(void);

/// Overwrites the stack below the caller, which still holds the variables of finished calls.
void om_wipe_stack(void);

/// Gives a file another name, and never replaces a file. EINVAL if the file system cannot do that.
int om_rename_new(const char *path, const char *new_path);

/// 1 if the descriptor's file system is in memory and is lost at reboot (tmpfs, ramfs); else 0.
int om_is_in_memory(int fd);

/// 1 if the descriptor's file system is a network one, on which flock and fdatasync promise too little; else 0.
int om_is_on_network(int fd);

/// Creates a file that no folder names, on the file system of `folder`, open for reading and writing. Where the file system
/// cannot do that, it does what om_unlinked_file does.
int om_unnamed_file(const char *folder);
/// Creates a file under a random name in `folder` and removes the name at once. If the name cannot be removed, it fails.
int om_unlinked_file(const char *folder);
/// The device of the file system that has the file at `path`, or that of the descriptor for an empty path. `*is_regular` says
/// whether it is a regular file. It asks the kernel only: a file system that never answers does not hold the caller.
int om_file_device(int fd, const char *path, uint64_t *device, bool *is_regular);

/// The wall clock and the time since boot at the same moment, in nanoseconds; suspended time counts. -1 if the system lacks
/// one of them.
int om_clocks(int64_t *wall, int64_t *since_boot);

/// Blocks, on this thread until the matching release, every signal that a terminal, a hang-up, a resource limit or `kill`
/// sends by default. SIGKILL and SIGSTOP cannot be blocked.
int om_signals_hold(void *saved_mask, size_t saved_size);
int om_signals_release(const void *saved_mask, size_t saved_size);
/// The number of bytes that `saved_mask` needs.
size_t om_signal_mask_size(void);

/// Overwrites every value of the environment variable `name` in place and removes the variable. Neither /proc/PID/environ
/// nor a child shows the value afterwards.
int om_environment_erase(const char *name);
/// The same for every variable whose name begins with `prefix`.
int om_environment_erase_all(const char *prefix);

/// Detaches this process from the terminal, control group, resource limits, priority and signals of its caller. It gets a
/// session of its own, the root control group, its own limits and the usual priority. The signals of om_signals_hold stay
/// blocked for good. For a process of root with one thread.
int om_leave_caller(void);

/// Starts `arguments[0]`, looked up in PATH. Standard input is /dev/null, standard output `output`, standard error `error`;
/// every other descriptor is closed and every signal has its default. Returns the child's id, or -1.
pid_t om_spawn(char *const arguments[], int output, int error);
/// Starts a program that goes on without this process: in a session of its own, which no Ctrl-C at this terminal reaches, with
/// /dev/null as its standard files and no other descriptor. `arguments[0]` is a path, or a name that PATH has. Returns the
/// child's id, or -1.
pid_t om_spawn_apart(char *const arguments[]);
/// Starts a program, found along PATH, in a session of its own. Standard input is `input` and standard output `output`, each
/// /dev/null if it is -1; standard error is /dev/null, and every other descriptor is closed. Returns the child's id, or -1.
pid_t om_spawn_piped(char *const arguments[], int input, int output);
/// Waits for the child. Returns its exit code, or 128 + the signal that ended it.
int om_wait(pid_t child);

// Whether it is a running child of this process.
bool om_child_is_ours(pid_t child);

/// Continues in a child of this process. This process exits, so its starter has nothing to wait for. -1 if there can be no
/// child. Call it before this process has a second thread or a locked page.
int om_leave_parent(void);

/// Starts the program at the absolute `path` in a session of its own. Standard input, output and error are /dev/null,
/// descriptor 3 is `ready`, every other one is closed, and signals have their defaults. Returns the child's id, or -1.
pid_t om_spawn_detached(const char *path, char *const arguments[], char *const environment[], int ready);

// A program that runs in the place of this one: child.c.

/// A file in memory that can be read only, with these bytes. Close-on-exec. Returns -1 with errno.
int om_sealed_file(const void *bytes, size_t count);
/// Blocks the signals that a program gets in the place of this process, and SIGCHLD. Returns a descriptor that delivers them.
/// `saved_mask` gets the mask before, of om_signal_mask_size() bytes.
int om_child_signals(void *saved_mask, size_t saved_size);
/// Sends the signals that have arrived to the child, save those that it has from the terminal. Returns 1 if a child may have
/// ended, else 0. Sets `*asked` to 1 if one of them asks for the end of the program, also one from the terminal.
int om_child_pass_on(int fd, pid_t child, int *asked);
/// Takes the signals that have arrived. 1 if one of them asks for the end of a program.
int om_child_signal_ends(int fd);
/// 1 if the child has ended. `*code` is then its exit code, or 128 + the signal that ended it; 255 if the kernel kept neither.
int om_child_ended(pid_t child, int *code);
/// Starts a program, found along PATH, with this environment and signal mask. The `count` descriptors of `from` get the
/// numbers of `to` in it. Returns the child's id, or -1 with the errno of the exec.
pid_t om_child_start(char *const arguments[], char *const environment[], const int *from, const int *to, size_t count,
                     const void *mask);
/// Becomes the program instead of starting it. Returns only with the errno of the exec.
int om_become(char *const arguments[], char *const environment[], const int *from, const int *to, size_t count);
/// The ends of a pipe for reading and for writing. Both close-on-exec. Returns -1 with errno.
int om_pipe(int ends[2]);

// Unix sockets. Every descriptor is close-on-exec.

/// A stream socket connected to `path`, waiting at most `milliseconds` while its queue is full.
int om_socket_connect(const char *path, int milliseconds);
/// A listening stream socket at `path`, with mode 0600. The path must not exist.
int om_socket_listen(const char *path, int backlog);
/// The next connection, or -1: EAGAIN if no client waits.
int om_socket_accept(int listener);
/// 1 if the descriptor is a listening Unix stream socket with an absolute path, else 0. `path` gets that path.
int om_socket_is_listening(int fd, char *path, size_t capacity);
/// A listening TCP socket at `port` (0: a free one) of 127.0.0.1, or of ::1 if `is_six`. It shares its port with no other socket.
int om_loopback_listen(bool is_six, uint16_t port);
/// The port of a listening TCP socket of this machine's own addresses 127.0.0.1 and ::1. 0 for every other descriptor.
uint16_t om_loopback_port(int fd);
/// The user and the process at the other end, as the kernel recorded them at the connect.
int om_socket_peer(int fd, uid_t *user, pid_t *process);
/// A descriptor of the process that `om_socket_peer` names, or -1. The number can belong to another process once this one has
/// ended; the descriptor cannot, if the kernel knows SO_PEERPIDFD.
int om_socket_peer_descriptor(int fd);
/// A descriptor of any process, or -1.
int om_other_process_descriptor(pid_t process);
/// Whether the process of such a descriptor has not ended.
bool om_process_runs(int descriptor);
/// Sends without waiting and without SIGPIPE. Returns the number of bytes sent, or -1.
ssize_t om_socket_send(int fd, const void *bytes, size_t count);
/// Receives without waiting. Returns the number of bytes received, 0 at the end, or -1.
ssize_t om_socket_receive(int fd, void *bytes, size_t count);
/// The same, and takes the descriptors that came with these bytes. `capacity` is OM_SENT_DESCRIPTORS, or 0 to take none.
/// `*received` says how many there are. `*is_cut` says whether the kernel has closed some that it could not hand over.
ssize_t om_socket_receive_descriptors(int fd, void *bytes, size_t count, int *descriptors, size_t capacity, size_t *received,
                                      bool *is_cut);
/// Sends bytes with descriptors: at least one byte, at most OM_SENT_DESCRIPTORS descriptors.
ssize_t om_socket_send_descriptors(int fd, const void *bytes, size_t count, const int *descriptors, size_t number);
enum { OM_SENT_DESCRIPTORS = 64 };

/// Two stream sockets connected to each other.
int om_socket_pair(int ends[2]);
/// 1 if the descriptor is one end of a connected Unix stream socket, else 0.
int om_socket_is_connected(int fd);
/// Waits until `socket` or `other` (-1 for none) has bytes to read, or the other end of `socket` has closed. Returns 2 if
/// `other` is ready, 1 if only `socket` is, 0 after `milliseconds`.
int om_socket_wait(int socket, int other, int milliseconds);
/// Waits at most `milliseconds` until the other end of `socket` has closed. 1 if it has, 0 if not.
int om_socket_wait_for_end(int socket, int milliseconds);

/// A counter that a thread can wait for and any thread can raise.
int om_event(void);
int om_event_raise(int event);

/// Limits this process to no core file, files of `file_bytes`, 64 descriptors, 512 MiB of memory and `seconds` of processor
/// time. For a process that reads untrusted bytes.
int om_limit_process(uint64_t file_bytes, uint64_t seconds);
/// The same for the process that reads a file of an import: no file, 2 GiB of memory, since such a file can ask for 1 GiB to make
/// its key from a password, and ten minutes.
int om_limit_reader(void);

/// Kills the child that the descriptor `process` refers to, and waits for it. -1 if this process has already waited for it.
int om_process_end(int process);
/// A descriptor of the child. Unlike the child's id, it can never mean another process later.
int om_process_descriptor(pid_t child);

// Confinement: for good, and for every program that this process starts. Call these while this process has one thread.

/// The uid under which root's helper runs. 0 if this user namespace has neither the helper's uid nor uid 65534.
uid_t om_helper_user(void);
/// If this process is root's, changes it to the user of `om_helper_user`, in that user's own group only.
int om_leave_root(void);
/// Drops every capability, for this process and for the programs that it starts.
int om_drop_capabilities(void);
/// Landlock's version, 0 if the kernel has no Landlock. It restricts files from version 1 on, TCP ports from 4, scopes from 6.
int om_landlock_version(void);
/// Three layers. Files: this process can only read, and only files at or beneath `paths` (NULL at its end); beneath `folder`
/// (NULL for none, no link) it can also list, write, make, replace and remove files, and make folders. TCP: it can connect only
/// to `ports`, and cannot listen. Scopes: it can neither signal another process nor use another one's abstract socket. `paths`
/// or `ports` NULL, or false, leaves a layer out; so does a kernel that lacks it.
int om_landlock(
    const char *const *paths, const char *folder, const uint16_t *ports, size_t port_count, bool scopes);

/// What a confined process does.
enum om_work {
    /// It asks one server.
    OM_WORK_ONLINE,
    /// It asks one server, and takes connections at listening sockets that it was given.
    OM_WORK_BROWSER,
    /// It reads and writes the files of one folder.
    OM_WORK_FOLDER,
    /// It reads the bytes of a file that it was given open, and opens nothing.
    OM_WORK_READING,
};

/// Whether the kernel can filter system calls, and this file has a filter for the processor.
bool om_has_filters(void);
/// Online and browser: allows only sockets of TCP and UDP over IPv4 and IPv6. Folder and reading: allows no new socket. Call it before
/// `om_filter_calls`, which forbids further filters.
int om_filter_sockets(enum om_work work);
/// Allows only system calls for memory, time and reading files; online also those for threads and sockets, with a browser also
/// `accept4`, and in a folder those for writing files; reading those for
/// threads, and none that opens a file. Any other call fails with EPERM; a call newer than Linux 6.1 fails with ENOSYS.
int om_filter_calls(enum om_work work);

// The editor's sandbox: a process in namespaces of its own. Every file system is read-only there. The user's home and the folders
// for temporary files can be written, and the written files are in memory that is never in swap. They end with the sandbox, and
// the sandbox ends with this process.

struct om_sandbox {
    pid_t process;
    /// The socket to it.
    int control;
    /// The folder of the edited file: /proc/fs/omvault inside.
    int folder;
};

/// The part of the set-up that the system refused.
enum om_sandbox_step {
    OM_SANDBOX_PROCESS = 1,
    OM_SANDBOX_USER,
    OM_SANDBOX_MOUNT,
    OM_SANDBOX_READ_ONLY,
    OM_SANDBOX_RIGHTS,
};

/// The largest file that the editor can write: 256 MiB.
enum { OM_SANDBOX_FILE = 256 << 20 };

/// Makes a sandbox for the program at the absolute path `arguments[0]`, which is not started yet. `home` may be NULL. `current` is
/// the program's current folder. Call it while this process has one thread, and before it has read a secret.
int om_sandbox_make(
    char *const arguments[], const char *home, const char *current, struct om_sandbox *made, enum om_sandbox_step *failed);
/// Runs the program at the terminal and waits for its end. Then no process is left in the sandbox but its first. Returns the
/// exit code, or 128 + the signal that ended it. If the user stops the program, this process stops too.
int om_sandbox_run(const struct om_sandbox *sandbox);
/// Ends every process of the sandbox, and closes the descriptors.
void om_sandbox_end(struct om_sandbox *sandbox);

/// A timer on the boot clock, which counts suspended time too.
int om_boot_timer(void);
/// Makes the timer's descriptor readable `seconds` after boot; 0 disarms the timer.
int om_boot_timer_set(int timer, int64_t seconds);
/// Milliseconds since boot, suspended time included.
int64_t om_boot_milliseconds(void);

/// A descriptor that delivers SIGTERM, SIGINT and SIGHUP. This thread, and threads that it starts later, block these signals.
int om_signal_descriptor(void);
/// The next signal's number from such a descriptor.
int om_signal_next(int fd);

/// A descriptor that becomes readable when a name in `folder` is removed or moved away, or when `folder` itself is removed.
int om_removals(const char *folder);
/// Discards the events so far, so that the descriptor is not readable until the next one.
void om_removals_seen(int fd);

// The kernel's keyring of this user, which is lost at reboot.

/// Adds or replaces the key. Every process of this user may read it.
int om_keyring_put(const char *name, const void *bytes, size_t count);
/// Copies at most `capacity` bytes of the key. Returns the key's length, or -1: ENOKEY if no such key exists.
ssize_t om_keyring_get(const char *name, void *bytes, size_t capacity);
int om_keyring_remove(const char *name);

#endif
