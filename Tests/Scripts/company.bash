# Functions for pages of Tests/Transcripts that need a login server. A page's setup starts with
# `. "${BASH_ENV%/*}/company.bash"; serve nginx`.
#
# `omvault` reaches the server at `id.example.org`, and servers with bad certificates at other names. It finds the good
# server's authority at `/etc/ssl/company.pem`. It hashes quickly, and a slow machine causes no time-out.
# The server that breaks rules (`serve odd`) is at `http://127.0.0.1:8080`.
# `server stop` and `server start` switch the server off and on. `server requests PATH` counts the requests for a path.
# `server logins` counts the requests with the right password.
# `server password FILE` changes the password of alice. `server policy JSON` changes the policy at /profile.
# `server hang` stops the server's process, and `server go-on` continues it.

printf 'correct horse 42' > right; printf 'changed horse' > changed; printf wrong > wrong

omvault() {
    local words=() word
    for word; do
        word=${word//id.example.org/localhost:$port}
        word=${word//wrong-name.example.org/localhost:$port_name}
        word=${word//unknown-authority.example.org/localhost:$port_foreign}
        word=${word//expired.example.org/localhost:$port_expired}
        word=${word//self-signed.example.org/localhost:$port_self}
        word=${word//127.0.0.1:8080/127.0.0.1:$http}
        words+=("${word//\/etc\/ssl\/company.pem/$ca}")
    done
    case " $* " in
    *' add-slot '*) ;;
    *' profile set '*) words+=(ConnectTimeOut=30 TotalTimeOut=30) ;;
    *' login check '* | *' login passwd '* | *' login enroll '* | *' login alice '* | *' init '*) words+=(--kdf-mem 8 --kdf-time 1) ;;
    esac
    command omvault "${words[@]}"
}

server() {
    case $1 in
    start | stop) tell "$1" ;;
    hang) kill -STOP "$(< web/pid)" ;;
    go-on) kill -CONT "$(< web/pid)" ;;
    requests) all_logged; grep -c "GET $2 " "$log" || true ;;
    logins) all_logged; grep -c ' alice .*"GET /login ' "$log" || true ;;
    password) printf 'alice:%s\n' "$(openssl passwd -5 -in "$2")" > web/users ;;
    policy) printf '%s' "$2" > web/www/profile.json ;;
    esac
}
