# What every bash in a test has, also those that a script starts: $BASH_ENV names this file.
#
# `refused CODE COMMAND…` ends the script unless the command exits with this code. Under `set -e`, `! COMMAND` fails only
# where it is the last one.
# `eventually COMMAND…` waits until the command succeeds, however long that takes.
# `while_runs PROCESS COMMAND…` waits until the command succeeds. If the process ends first, the script ends too, and shows
# the file `log`.

refused() {
    local wanted=$1 code=0; shift
    "$@" > .refused 2>&1 || code=$?
    [[ $code == "$wanted" ]] || { echo "exit $code, not $wanted: $*"; cat .refused; exit 99; }
}

eventually() { until "$@"; do sleep 0.02; done; }

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

# It waits for a process that is writing.
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }

# A misspelt command must not pass for one that fails.
command_not_found_handle() {
    echo "$1: no such command" >&2
    kill -TERM $$
}
