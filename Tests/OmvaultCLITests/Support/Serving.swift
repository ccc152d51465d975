// Servers for scripts: Tests/Servers/serve, named by $SERVE.

/// `serve NAME KIND` starts a server; what it prints becomes variables. `tell stop` and `tell start` end it and start it again
/// at the same port.
let serving = """
    serve() {
        mkfifo "$1.in" "$1.out"
        "$SERVE" "$2" "$PWD/$1" < "$1.in" > "$1.out" &
        exec 9> "$1.in" 8< "$1.out"
        heard
    }
    heard() {
        local line
        while read -r line <&8; do
            [[ $line == ready ]] && return
            declare -g "$line"
        done
        echo 'the server did not start'; exit 98
    }
    tell() { echo "$1" >&9; heard; }
    """
