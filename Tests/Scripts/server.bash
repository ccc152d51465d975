# Functions for scripts that run omvault-server, whose path is $SERVER.

# server ARGUMENT…: a command about the server in ./server.
server() { local verb=$1; shift; case $verb in
    user | device | client | policy) local sub=$1; shift; "$SERVER" "$verb" "$sub" --data "$PWD/server" "$@" ;;
    *) "$SERVER" "$verb" --data "$PWD/server" "$@" ;;
    esac; }

# serve [ARGUMENT…]: starts the server and waits until it listens. Its address is $URL. The script's end ends it.
serve() {
    "$SERVER" serve --data "$PWD/server" "$@" < /dev/null > /dev/null 2> server.log &
    SERVER_PID=$!
    trap end_server EXIT
    until grep -q '"listening"' server.log; do kill -0 $SERVER_PID || { cat server.log; exit 1; }; sleep 0.02; done
    PORT=$(sed -nE 's/.*"event":"listening","port":([0-9]+).*/\1/p' server.log)
    URL=${SCHEME:-http}://127.0.0.1:$PORT
}
# end_server [SIGNAL]: ends it, and gives its exit code.
end_server() {
    trap - EXIT
    kill -"${1:-TERM}" $SERVER_PID
    wait $SERVER_PID
}
