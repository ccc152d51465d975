// Starting a process of a test, and talking to it: glibc hands the calls for it to C only.
#ifndef CSUPPORT_H
#define CSUPPORT_H

/// Starts `arguments[0]` (an absolute path) in `folder`, in a session of its own: signals have their defaults, and no
/// descriptor is open but 0, 1 and 2, which are these files. Where `input` and `output` are one path it is a terminal,
/// and it controls the process. The process id, or -1 with errno.
int test_spawn(
    char *const arguments[], char *const environment[], const char *folder, const char *input, const char *output,
    const char *errors);

/// A pipe, whose ends no other program inherits. 0, or -1 with errno.
int test_pipe(int ends[2]);

#endif
