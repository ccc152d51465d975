// The start of a test's process, and pipes to it.
#define _GNU_SOURCE
#include "CSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

int test_spawn(
    char *const arguments[], char *const environment[], const char *folder, const char *input, const char *output,
    const char *errors) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t every, none;
    sigfillset(&every);
    sigemptyset(&none);
    int terminal = strcmp(input, output) == 0;
    int reading = terminal ? O_RDWR : O_RDONLY, writing = terminal ? O_RDWR : O_WRONLY | O_CREAT | O_APPEND;
    if (posix_spawn_file_actions_init(&files) != 0) return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    // In a new session, the first opened terminal becomes its controlling terminal.
    int failure = posix_spawn_file_actions_addopen(&files, 0, input, reading, 0);
    if (!failure) failure = posix_spawn_file_actions_addopen(&files, 1, output, writing, 0600);
    if (!failure) failure = posix_spawn_file_actions_addopen(&files, 2, errors, writing, 0600);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&files, 3);
    if (!failure) failure = posix_spawn_file_actions_addchdir_np(&files, folder);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &every);
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, &none);
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID;
    if (!failure) failure = posix_spawnattr_setflags(&attributes, flags);
    pid_t child = -1;
    if (!failure) failure = posix_spawn(&child, arguments[0], &files, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    errno = failure;
    return failure ? -1 : child;
}

int test_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
