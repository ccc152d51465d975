# Functions for every bash of a test, also for a bash that a script starts: $BASH_ENV names this file.
#
# `refused CODE COMMAND…` ends the script unless the command exits with this code. With `set -e`, `! COMMAND` only fails if it
# is the last command.
# `eventually COMMAND…` waits without a limit until the command succeeds.
# `while_runs PROCESS COMMAND…` waits until the command succeeds. If the process ends first, the script shows the file `log`
# and ends too.

refused() {
    local wanted=$1 code=0; shift
    "$@" > .refused 2>&1 || code=$?
    [[ $code == "$wanted" ]] || { echo "exit $code, not $wanted: $*"; cat .refused; exit 99; }
}

eventually() {
    local pauses=0
    until "$@"; do
        # A long wait looks less often: each look costs a process or two.
        if ((++pauses < 20)); then sleep 0.02; else sleep 0.1; fi
    done
}

while_runs() {
    local process=$1; shift
    until "$@"; do
        # A child that has ended stays, as a zombie, until it is waited for.
        if is_gone "$process" || grep -qs '^State:.[ZX]' "/proc/$process/status"; then
            ! "$@" || return 0
            { echo "process $process ended before this succeeded: $*"; [[ ! -e log ]] || cat log; } >&2
            exit 99
        fi
        sleep 0.02
    done
}

is_gone() { ! kill -0 "$1" 2> /dev/null; }

# Waits for a process that is writing to the database.
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }

# A misspelled command must not look like a command that fails.
command_not_found_handle() {
    echo "$1: no such command" >&2
    kill -TERM $$
}
