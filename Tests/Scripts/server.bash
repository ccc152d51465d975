# Functions for scripts that run omvault-server, whose path is $SERVER.

# server ARGUMENT…: a command about the server in ./server.
server() { local verb=$1; shift; case $verb in
    user | device | client | policy | question) local sub=$1; shift; "$SERVER" "$verb" "$sub" --data "$PWD/server" "$@" ;;
    *) "$SERVER" "$verb" --data "$PWD/server" "$@" ;;
    esac; }

# serve [ARGUMENT…]: starts the server and waits until it listens. Its address is $URL. The script's end ends it.
serve() {
    # What an earlier one said must not count for this one.
    rm -f server.log
    "$SERVER" serve --data "$PWD/server" "$@" < /dev/null > /dev/null 2> server.log &
    SERVER_PID=$!
    trap end_server EXIT
    until grep -qs '"listening"' server.log; do kill -0 $SERVER_PID || { cat server.log; exit 1; }; sleep 0.02; done
    PORT=$(sed -nE 's/.*"event":"listening","port":([0-9]+).*/\1/p' server.log)
    URL=${SCHEME:-http}://127.0.0.1:$PORT
}
# end_server [SIGNAL]: ends it, and gives its exit code.
end_server() {
    trap - EXIT
    kill -"${1:-TERM}" $SERVER_PID
    wait $SERVER_PID
}

# echoes: prints "echo" or "-echo", as the terminal of this script is.
echoes() { stty -a < /dev/tty | grep -ow -e '-echo' -e 'echo'; }
# await_silence: waits until a program has turned the echo off.
await_silence() { until [[ $(echoes) == -echo ]]; do sleep 0.02; done; }

# hold_port: sets $PORT to a port that no other process gets, also while no server listens there.
hold_port() {
    mkfifo holder
    PYTHONPATH=${BASH_SOURCE[0]%/*}/../Servers python3 -Bc \
        'import ports, sys; print(ports.hold(), flush=True); sys.stdin.read()' < holder > port &
    # It ends with this script.
    exec 7> holder
    until [[ -s port ]]; do sleep 0.02; done
    PORT=$(< port)
}
