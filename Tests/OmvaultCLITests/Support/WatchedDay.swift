// A day's work, during which all that others can see is kept: `serve day`, and a /dev/log of its own.

import Foundation
import TestSupport

/// The parts of a script that works for a day and then searches for its secrets.
///
/// `search` prints each place with a secret that was asked for: "KIND PLACE", and in the file `counts` how many were looked for.
/// `watched` waits until the watcher has seen all that runs now. `plant TEXT` puts the text into each place that the search reads.
enum WatchedDay {
    /// First of all: the script in a mount namespace.
    static let start = #"""
        if [[ -z ${DAY-} ]]; then DAY=1 exec unshare -m --propagation private /bin/bash -c "$BASH_EXECUTION_STRING"; fi

        """#

    /// After `serve day day`: the log, and the functions.
    static let log = #"""
        mkdir .system; mount -t tmpfs none .system; mkdir .system/dev
        cp -a /dev/{null,zero,full,random,urandom,tty,ptmx} .system/dev/ 2> .copied
        mkdir .system/dev/shm .system/dev/pts
        mount --bind /dev/shm .system/dev/shm; mount --bind /dev/pts .system/dev/pts; ln -s /proc/self/fd .system/dev/fd
        mount --rbind .system/dev /dev
        python3 -c '
        import socket, sys
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        log.bind("/dev/log")
        print("ready", flush=True)
        file = open(sys.argv[1], "wb", buffering=0)
        while True: file.write(log.recv(65536) + b"\n")' "$day/log" > listening & listener=$!
        at_end="kill $listener; omvault -q agent stop"
        while_runs $listener grep -qs ready listening
        # The watcher has read every process twice since this began, so also what waits here.
        watched() {
            local before; before=$(< "$day/rounds")
            later() { (($(< "$day/rounds") > before + 2)); }; eventually later
        }
        export -f watched eventually; export day
        search() { python3 "$search" "$day" mark "$skipped" . /tmp /run /dev/shm /var/tmp 2> counts; }
        plant() {
            mkdir later
            printf 'x%sx' "$1" > later/file
            elsewhere=$(mktemp -d /dev/shm/omvault-day-XXXXXX) there=$(mktemp -d /tmp/omvault-day-XXXXXX)
            at_end="rm -rf $elsewhere $there; $at_end"
            cp later/file "$elsewhere"; cp later/file "$there"
            logger -u /dev/log -d "$1"
            bash -c 'watched' "$1"
            PLANTED=$1 bash -c 'watched'
        }

        """#
}
