// The attempts of a process that an attacker took over. It prepares them before the confinement and makes them under it.
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include <stdint.h>
#include <sys/types.h>

/// Makes the targets of the attempts: files and a socket in `folder`, listening ports, another process.
void attempts_prepare(const char *folder);
/// The port that the confinement allows.
uint16_t attempts_open_port(void);
/// Makes every attempt, and prints "NAME ERRNO" for each, 0 for a success. The last runs FOLDER/id, which prints its user.
void attempts_run(void);
/// The same with attempts in FOLDER/remote, the folder that the confinement allows. The last runs FOLDER/remote/id.
void attempts_run_remote(void);
/// Prints "NAME ADDRESS".
void attempt_address(const char *name);
/// Connects to a port of 127.0.0.1. Returns errno, or 0.
int attempt_connect(uint16_t port);
/// A process that waits for its end, with the id `wanted`, which must be free, or with any id.
pid_t attempt_child(pid_t wanted);
int attempt_is_alive(pid_t child);

#endif
