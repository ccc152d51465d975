// What the system's log and the user read of a login that PAM refuses.

import Foundation
import Glibc
import Testing

@Suite("PAM says who was refused, and why", .enabled(if: geteuid() == 0, "only root has a system store"))
struct PamWordsTests {
    /// `syslog` makes a /dev/log that only this script sees. `logged` prints what was logged since the last call, without time
    /// and process.
    private static let start = #"""
        syslog() {
            mkdir .system/dev
            local name
            for name in null zero full random urandom tty ptmx; do
                touch ".system/dev/$name"; mount --bind "/dev/$name" ".system/dev/$name"
            done
            mkdir .system/dev/pts .system/dev/shm
            mount --bind /dev/pts .system/dev/pts
            mount --bind /dev/shm .system/dev/shm
            ln -s /proc/self/fd .system/dev/fd
            mount --rbind .system/dev /dev
            mkfifo lines life
            python3 -c '
        import re, select, socket
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        log.bind("/dev/log")
        life = open("life")
        lines = open("lines", "wb", buffering=0)
        lines.write(b"ready\n")
        while life not in select.select([log, life], [], [])[0]:
            lines.write(re.sub(rb"^<\d+>\w+ +\d+ [\d:]+ [^ ]*?(\[\d+\])?: ", b"", log.recv(65536)) + b"\n")' &
            exec 6> life 7< lines
            read -r <&7
        }
        logged() {
            logger -u /dev/log -d -t test -- done
            local line
            while read -r line <&7; do
                [[ $line == done ]] && break
                printf '%s\n' "$line"
            done > log
            cat log
        }
        # The lines are these, and no more; each behind "pam_omvault(omvault-test:auth): ".
        logs() {
            logged > /dev/null
            local line
            for line in "$@"; do printf 'pam_omvault(omvault-test:auth): %s\n' "$line"; done | diff - log || exit 97
        }
        failure() { echo "authentication failure; logname= uid=0 euid=0 tty=${3-} ruser=${4-} rhost=${2-} user=$1"; }
        syslog

        """#

    @Test("a wrong password and a locked login are logged in the words of pam_unix, and the user is told")
    func failures() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                enroll ada work right
                granted ada right; logs
                answers ada wrong 'Authentication failure'; logs "$(failure ada)"
                pamtester -I rhost=192.0.2.7 -I tty=pts/3 omvault-test ada authenticate < wrong > said 2>&1 || :
                logs "$(failure ada 192.0.2.7 pts/3)"
                for typed in wrong right; do
                    answers ada $typed 'maximum number of retries'
                    grep -qx 'The login is locked until an administrator unlocks it.' said
                    logs "$(failure ada)" \
                        'the login is locked after too many attempts: omvault login unlock USER --system; user=ada'
                done
                # A password that was typed where the name belongs is in no log.
                answers 'my password' right 'cannot retrieve'; logs 'no login is cached for the user'
                answers a/b right 'not known'; logs "the user name is not valid"
                answers "$(printf 'a\nb')" right 'not known'; logs "the user name is not valid"
                """#)
    }

    @Test("a refusal logs the name of an account of this machine, and no other typed word")
    func accounts() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                echo 'ada:x:61049:61049::/:/bin/sh' >> /etc/passwd
                answers ada right 'cannot retrieve'; logs 'no login is cached for the user; user=ada'
                for name in bob Ada 'ada ' 'my password'; do
                    answers "$name" right 'cannot retrieve'; logs 'no login is cached for the user'
                done
                module profile=nothere
                answers ada right 'Error in service module'
                logs 'there is no such profile, or it asks for more than PAM can ask: omvault profile show --system; user=ada'
                answers bob right 'Error in service module'
                logs 'there is no such profile, or it asks for more than PAM can ask: omvault profile show --system'
                """#)
    }

    @Test("if the lookup of an account's uid fails, no server's answer lets it in")
    func unknownAccount() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                serve web nginx
                web /login
                echo 'toor:x:0:0::/:/bin/sh' >> /etc/passwd
                printf 'toor:%s\n' "$(openssl passwd -5 -in horse)" >> web/users
                # Behind another service the C library answers as that one does.
                sed -i 's/^passwd:.*/passwd: files/' /etc/nsswitch.conf
                for error in EPERM EBADF ENOENT ESRCH EIO; do
                    strace -f -qq -o trace -P /etc/passwd -e trace=openat -e inject=openat:error=$error \
                        pamtester omvault-test toor authenticate < horse > said 2>&1 || :
                    grep -q "/etc/passwd.*$error.*INJECTED" trace
                    grep -q 'User not known' said || { echo "$error:"; cat said; exit 96; }
                    logs 'the user has uid 0 or could not be looked up, and root=yes is not set'
                done
                granted alice horse
                """#)
    }

    @Test("fail2ban's filter finds the host in the line of a failure")
    func filter() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                enroll ada work right
                pamtester -I rhost=192.0.2.7 -I tty=ssh -I ruser=eve omvault-test ada authenticate < wrong > said 2>&1 || :
                logged > /dev/null
                # filter.d/pam-generic.conf, with __pam_auth = pam_omvault
                re='^pam_omvault\(\S+\):\s+authentication failure;(\s+(logname|e?uid|tty)=\S*){0,4}\s+ruser=\S*\s+rhost=(\S+)(\s+user=.+)?\s*$'
                python3 - "$re" <<'PYTHON'
                import re, sys
                found = re.match(sys.argv[1], open("log").read())
                assert found.group(3) == "192.0.2.7" and found.group(4).strip() == "user=ada", found.groups()
                PYTHON
                """#)
    }

    @Test("no name forges a line or a field, and no password is in the log")
    func forged() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                printf 'pass word' > secret
                enroll "eve rhost=192.0.2.1 ü" work secret
                pamtester -I rhost="$(printf '192.0.2.7\n')" -I tty="$(printf 'x\033[2J')" \
                    -I ruser="$(printf 'u rhost=192.0.2.8\nsshd: forged \\n')" omvault-test "eve rhost=192.0.2.1 ü" \
                    authenticate < wrong > said 2>&1 || :
                logs "$(failure 'eve\x20rhost=192.0.2.1\x20\xc3\xbc' 192.0.2.7 'x\x1b[2J' \
                    'u\x20rhost=192.0.2.8\x0asshd:\x20forged\x20\x5cn')"
                granted "eve rhost=192.0.2.1 ü" secret; logs
                for n in 1 2 3 4; do answers "eve rhost=192.0.2.1 ü" wrong '.'; done
                answers "eve rhost=192.0.2.1 ü" secret 'maximum number'
                logged > /dev/null
                [[ -s log ]]
                refused 1 grep -E 'pass|word=|wrong$' log
                """#)
    }

    @Test("the user is told how long to wait and that a login is wiped, unless the program wants silence")
    func told() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                profile work AttemptDelay=3600
                enroll ada work right
                answers ada wrong 'Authentication failure'
                answers ada right 'maximum number of retries'
                grep -qx 'Too early after a wrong password. Try again in 60 minutes.' said
                logged > /dev/null
                grep -qx 'pam_omvault(omvault-test:auth): too early after a wrong password; user=ada' log
                pamtester omvault-test ada 'authenticate(PAM_SILENT)' < right > said 2>&1 || :
                refused 1 grep 'Too early' said
                omvault -q profile set work AttemptDelay=0 MaxLoginAttempts=1 OnAttemptsExceeded=wipe --system
                enroll bob work right
                answers bob wrong 'Authentication failure'
                answers bob wrong 'maximum number'
                grep -q 'The cached login was wiped after too many wrong passwords' said
                """#)
    }

    @Test("PAM, login check and login status refuse a server at a port that any user can take, with the same reason")
    func openServer() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                serve odd odd
                set_server() {
                    omvault profile set work --system AuthServerType=HTTPBasicAuthentication LoginURL=$1 LogoutURL=$1 > said 2>&1
                }
                warning='any user of this machine could be the server http://127.0.0.1:'
                set_server http://127.0.0.1:$http/basic
                grep -q "$warning$http" said
                omvault login status --system > status 2>&1; grep -q "$warning$http" status
                omvault login status ada --profile work --system > status 2>&1; grep -q "$warning$http" status
                answers ada right 'Error in service module'
                logs 'the server was not asked: its address is not https, nor http at a port of this machine below 1024'
                refused 9 omvault login check ada --system --profile work --password-from file:right
                grep -q 'denied reason=unsafe_address' .refused; grep -q 'port below 1024' .refused
                [[ ! -s $seen ]]
                set_server https://127.0.0.1:$https/basic
                refused 1 grep 'any user' said
                set_server http://127.0.0.1:1023/basic
                refused 1 grep 'any user' said
                # The profile is not the store.
                module profile=nothere; answers ada right 'Error in service module'
                logs 'there is no such profile, or it asks for more than PAM can ask: omvault profile show --system'
                """#)
    }

    @Test("a name that HTTP Basic cannot send is refused, and the server is not asked")
    func colon() async throws {
        try await PamTests().inSystem(
            #"""
            serve web nginx
            web /login
            granted alice horse
            answers alice:x horse 'User not known'
            refused 2 omvault login check alice:x --system --profile work --password-from file:horse
            """#)
    }

    @Test("no account with uid 0 is let in, by a server, a cache or an enrolled login, unless the option is root=yes")
    func root() async throws {
        try await PamTests().inSystem(
            Self.start + #"""
                enroll root work right
                answers root right 'User not known'
                logs 'the user has uid 0 or could not be looked up, and root=yes is not set; user=root'
                module profile=work root=yes; granted root right
                module profile=work
                serve web nginx
                web /login
                echo 'toor:x:0:0::/:/bin/sh' >> /etc/passwd
                for name in root toor; do printf '%s:%s\n' $name "$(openssl passwd -5 -in horse)" >> web/users; done
                for name in root toor; do
                    answers $name horse 'User not known'
                    logs "the user has uid 0 or could not be looked up, and root=yes is not set; user=$name"
                done
                granted alice horse
                module profile=work root=no; answers root horse 'User not known'
                module profile=work root=yes
                for name in root toor; do granted $name horse; done
                tell stop
                granted root horse
                module profile=work
                for name in root toor; do answers $name horse 'User not known'; done
                module profile=work mode=offline; answers root horse 'User not known'
                granted alice horse
                module profile=work root=maybe; answers alice horse 'Error in service module'
                """#)
    }
}
