// The start of a test's process, and pipes to it: only C can make glibc's calls for these.
#ifndef CSUPPORT_H
#define CSUPPORT_H

/// Starts `arguments[0]`, an absolute path, in `folder` and in a session of its own. Signals have their defaults. Only the
/// descriptors 0, 1 and 2 are open, and they are these files. If `input` and `output` are one path, it is a terminal and
/// controls the process. Returns the process id, or -1 with errno.
int test_spawn(
    char *const arguments[], char *const environment[], const char *folder, const char *input, const char *output,
    const char *errors);

/// Makes a pipe whose ends no other program inherits. Returns 0, or -1 with errno.
int test_pipe(int ends[2]);

#endif
