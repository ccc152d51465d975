// PAM as a login program meets it: pamtester, the module, its helper and the system store, in a mount namespace of its own.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("PAM asks only the system store", .enabled(if: geteuid() == 0, "only root has a system store"))
struct PamTests {
    @Test("R62: right, wrong, locked out, wiped, expired and not cached have six different answers")
    func verdicts() async throws {
        try await inSystem(
            """
            enroll ada work right
            granted ada right
            answers ada wrong 'Authentication failure'
            granted ada right
            answers bob right 'Authentication service cannot retrieve'
            for n in 1 2; do answers ada wrong 'Authentication failure'; done
            answers ada wrong 'maximum number of retries'
            answers ada right 'maximum number of retries'
            refused 22 omvault login check ada --system --profile work --password-from file:right
            profile work MaxLoginAttempts=2 OnAttemptsExceeded=wipe
            enroll ada work right
            for n in 1 2; do answers ada wrong 'Authentication failure'; done
            answers ada wrong 'maximum number of retries'
            answers ada right 'maximum number of retries'
            refused 23 omvault login check ada --system --profile work --password-from file:right
            profile work OfflineCredentialMaxAge=1
            enroll ada work right
            expired() { omvault login status ada --profile work --system --json | grep -q '"expired"'; }; eventually expired
            answers ada right 'Authentication service cannot retrieve'
            profile work OfflineAuthAllowed=false
            answers ada right 'Authentication service cannot retrieve'
            """)
    }

    @Test("R62: an unreachable server has its own answer, and grants nothing")
    func unreachable() async throws {
        try await inSystem(
            """
            enroll ada work right
            module profile=work mode=online
            answers ada right 'Authentication service cannot retrieve'
            module profile=work mode=offline
            granted ada right
            """)
    }

    @Test("R62: the server is asked first, its yes is cached, and the cache answers if the server cannot be reached")
    func server() async throws {
        try await inSystem(
            """
            serve web nginx
            web /login
            granted alice horse
            answers alice wrong 'Authentication failure'
            # A program that is gone is no network that is cut: not for whom root asks.
            mv /usr/libexec/omvault/omvault-agent agent
            answers alice horse 'Error in service module'
            mv agent /usr/libexec/omvault/omvault-agent
            mkdir alone; cp "$(command -v omvault)" "$(command -v omvault-full)" alone/
            refused 61 alone/omvault login check alice --system --profile work --password-from file:horse
            grep -q 'denied reason=no_agent' .refused
            tell stop
            granted alice horse
            answers alice wrong 'Authentication failure'
            answers bob horse 'Authentication service cannot retrieve'
            module profile=work mode=online
            answers alice horse 'Authentication service cannot retrieve'
            tell start
            granted alice horse
            omvault -q profile set work ConnectivityMode=Offline --system
            module profile=work
            strace -f -qq -o trace -e trace=execve,connect pamtester omvault-test alice authenticate < horse > said 2>&1
            refused 1 grep -E 'omvault-agent|AF_INET' trace
            module profile=work mode=auto
            export GLIBC_TUNABLES=glibc.malloc.perturb=1
            strace -f -s 200 -qq -o trace -e trace=execve,connect pamtester omvault-test alice authenticate < horse > said 2>&1
            unset GLIBC_TUNABLES
            grep -q AF_INET trace
            grep -q 'execve("/usr/libexec/omvault/omvault-agent", \\["/usr/libexec/omvault/omvault-agent", "--online"\\], 0x[0-9a-f]* /\\* 2 vars \\*/' trace
            omvault -q profile set work ConnectivityMode=Auto --system
            module profile=work
            web '/login?as=status/403'; answers alice horse 'Permission denied'
            web '/login?as=status/500'; answers alice horse 'Authentication service cannot retrieve'
            web '/login?as=status/503'; granted alice horse
            omvault -q profile set work --unset TrustedCA --system
            answers alice horse 'Authentication service cannot retrieve'
            web /login
            # Refused by the server, it was changed there: the cached one is gone.
            printf 'alice:%s\\n' "$(openssl passwd -5 -in wrong)" > web/users
            answers alice horse 'Authentication failure'
            tell stop
            answers alice horse 'Authentication service cannot retrieve'
            module profile=work mode=offline
            answers alice horse 'Authentication service cannot retrieve'
            refused 24 omvault login check alice --system --profile work --mode offline --password-from file:horse
            """)
    }

    @Test("R62: behind a server that hangs the cache answers within the module's deadline, and no cache grants nothing")
    func hangingServer() async throws {
        try await inSystem(
            """
            serve web nginx
            web /login
            granted alice horse
            omvault -q profile set work ConnectTimeOut=1 TotalTimeOut=1 --system
            kill -STOP "$(< web/pid)"
            module profile=work deadline=60
            granted alice horse
            answers alice wrong 'Authentication failure'
            module profile=work mode=online deadline=60
            answers alice horse 'Authentication service cannot retrieve'
            # A deadline that ends before the server's own: the server gets half of it, and the cache answers in the rest.
            omvault -q profile set work ConnectTimeOut=60 TotalTimeOut=300 --system
            module profile=work deadline=20
            strace -f -qq -o trace -e trace=execve pamtester omvault-test alice authenticate < horse > said 2>&1
            grep -q -e --online trace
            answers alice wrong 'Authentication failure'
            module profile=work mode=online deadline=20
            answers alice horse 'Authentication service cannot retrieve'
            kill -CONT "$(< web/pid)"
            """)
    }

    @Test("R62: a server that cannot be asked as root configured it lets no user in, cached or not")
    func unusableServer() async throws {
        try await inSystem(
            """
            serve web nginx
            web /login
            granted alice horse
            agent=/usr/libexec/omvault/omvault-agent
            broken() { answers alice horse 'Error in service module'; }
            chmod 775 "$agent"; broken
            chmod 755 "$agent"; chown nobody "$agent"; broken
            chown root "$agent"; granted alice horse
            mv "$agent" kept; broken
            printf '#!/bin/sh\\nexit 0\\n' > "$agent"; chmod 755 "$agent"; broken
            # Offline it is not needed.
            module profile=work mode=offline; granted alice horse; module profile=work
            cp kept "$agent"; granted alice horse
            omvault -q profile set work CollectIdentityDomain=true --system; broken
            omvault -q profile set work CollectIdentityDomain=false --system; granted alice horse
            chmod g+w "$ca"; broken
            """)
    }

    @Test("R62: an OAuth login needs a secret that only root can change, and a blocked or refused user is denied")
    func oauth() async throws {
        try await inSystem(
            """
            serve odd odd
            printf 'client-secret\\n' > /etc/omvault/secret; chmod 600 /etc/omvault/secret
            token() {
                omvault -q profile set work AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \\
                    "OAuthTokenEndpoint=${2-https://localhost:$https}/token/$1" TrustedCA=$ca OAuthClientID=omvault \\
                    OAuthClientSecret=file:/etc/omvault/secret ConnectTimeOut=30 TotalTimeOut=30 --system
            }
            token plain
            granted alice horse
            test "$(grep -o 'Basic [A-Za-z0-9=]*' "$seen" | tail -n 1 | cut -d ' ' -f 2 | base64 -d)" = omvault:client-secret
            token denied; answers alice horse 'Permission denied'
            token disabled; answers alice horse 'maximum number of retries'
            asked=$(grep -c 'Basic' "$seen")
            token plain
            # Any user of this machine can be the server at such a port.
            token plain http://127.0.0.1:$http; answers alice horse 'Error in service module'
            test "$(grep -c 'Basic' "$seen")" = "$asked"
            token plain
            chmod 622 /etc/omvault/secret; answers alice horse 'Error in service module'
            chmod 600 /etc/omvault/secret; chown nobody /etc/omvault/secret; answers alice horse 'Error in service module'
            chown root /etc/omvault/secret; granted alice horse
            mv /etc/omvault/secret . ; ln -s "$PWD/secret" /etc/omvault/secret; answers alice horse 'Error in service module'
            """)
    }

    @Test("an attempt that comes too early is told so, and is not charged")
    func delayed() async throws {
        try await inSystem(
            """
            profile work AttemptDelay=3600
            enroll ada work right
            answers ada wrong 'Authentication failure'
            answers ada right 'maximum number of retries'
            omvault login status ada --profile work --system --json | grep -q '"charged":1'
            """)
    }

    @Test("R62: a forged agent, PATH, XDG_* and OMVAULT_* are never read and change nothing")
    func forgedEnvironment() async throws {
        try await inSystem(
            """
            enroll ada work right
            mkdir -m 700 forged forged/omvault forged/bin
            python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("forged/omvault/agent.sock"); s.listen()' &
            wait
            printf '#!/bin/sh\\necho forged >> %s/called\\n' "$PWD" > forged/bin/omvault-pam-helper
            cp forged/bin/omvault-pam-helper forged/bin/omvault-agent
            chmod 755 forged/bin/*
            export PATH="$PWD/forged/bin:$PATH" HOME="$PWD/forged" LD_LIBRARY_PATH="$PWD/forged"
            for name in RUNTIME_DIR STATE_HOME CONFIG_HOME DATA_HOME; do export "XDG_$name=$PWD/forged"; done
            export OMVAULT_AGENT_SOCK="$PWD/forged/omvault/agent.sock" OMVAULT_PASSWORD_FROM="file:$PWD/right"
            answers ada wrong 'Authentication failure'
            granted ada right
            strace -f -s 200 -qq -o trace pamtester omvault-test ada authenticate < right > said 2>&1
            grep -q 'execve("/usr/libexec/omvault/omvault-pam-helper", \\["/usr/libexec/omvault/omvault-pam-helper"\\], 0x[0-9a-f]* /\\* 0 vars \\*/' trace
            helper=$(grep -m1 'execve("/usr/libexec/omvault' trace | cut -d' ' -f1)
            grep "^$helper " trace > helper.trace
            grep -q 'logins.db' helper.trace
            refused 1 grep forged helper.trace
            # The C library asks its own cache for the account's uid.
            grep 'connect(' helper.trace | grep -v '"/var/run/nscd/socket"' > connects || :
            [[ ! -s connects ]]
            [[ ! -e called ]]
            """)
    }

    @Test("R62: a store is refused if a user owns it, can write to it or can replace it by a link")
    func foreignStore() async throws {
        try await inSystem(
            """
            enroll ada work right
            chown nobody /var/lib/omvault
            answers ada right 'Error in service module'
            chown root /var/lib/omvault; chmod 777 /var/lib/omvault
            answers ada right 'Error in service module'
            chmod 700 /var/lib/omvault; chown nobody /etc/omvault/profiles
            answers ada right 'Error in service module'
            chown root /etc/omvault/profiles; mv /var/lib/omvault /var/lib/other; ln -s other /var/lib/omvault
            answers ada right 'Error in service module'
            refused 14 omvault login check ada --system --profile work --password-from file:right
            rm /var/lib/omvault; mv /var/lib/other /var/lib/omvault; chmod 777 /var/lib
            answers ada right 'Error in service module'
            chmod 755 /var/lib
            granted ada right
            """)
    }

    @Test("R62: an invalid user name is refused before the store is opened")
    func names() async throws {
        try await inSystem(
            """
            enroll ada work right
            for name in '../ada' 'a/b' /ada .ada -ada "$(printf 'x%.0s' {1..256})" "$(printf 'ad\\na')"; do
                answers "$name" right 'User not known|Authentication service cannot retrieve'
            done
            refused 1 pamtester omvault-test '' authenticate < right
            # What no C string can say, asked of the helper itself: name, then the answer's last byte.
            cat > ask.py <<'PYTHON'
            import socket, subprocess, sys
            def ask(user, profile=b"work", password=b"right", mode=b"F", nonce=b"0123456789abcdef", cut=0, seconds=60, root=b"N"):
                ours, its = socket.socketpair()
                helper = subprocess.Popen(["/usr/libexec/omvault/omvault-pam-helper"], stdin=its, env={})
                its.close()
                question = (b"OMP3" + nonce + mode + root + seconds.to_bytes(2, "big") + bytes([len(profile)]) + len(user).to_bytes(2, "big")
                    + len(password).to_bytes(4, "big") + profile + user + password)
                ours.sendall(question[:len(question) - cut])
                ours.shutdown(socket.SHUT_WR)
                try:
                    answer = ours.recv(100)
                except ConnectionResetError:
                    answer = b""
                helper.wait()
                assert answer == b"" or (len(answer) == 25 and answer[:20] == b"OMA2" + nonce), answer
                return answer[20:21]
            wanted = [
                (ask(b"ada"), b"G"), (ask(b"ada", password=b"wrong"), b"W"), (ask(b"ada", password=b"right\\0"), b"W"),
                (ask(b"ada\\0"), b"R"), (ask(b"\\0"), b"R"), (ask(b""), b"R"), (ask(b"a/da"), b"R"), (ask(b"\\xff"), b""),
                (ask(b"ada", profile=b"../work"), b"R"), (ask(b"ada", profile=b""), b"R"), (ask(b"ada", mode=b"N"), b"U"),
                (ask(b"ada", mode=b"?"), b""), (ask(b"ada", root=b"?"), b""), (ask(b"ada", root=b"Y"), b"G"),
                (ask(b"ada", password=b""), b"W"), (ask(b"ada", cut=1), b""),
                (ask(b"a" * 256), b""), (ask(b"ada", seconds=0), b""), (ask(b"ada", seconds=601), b""), (ask(b"ada"), b"G"),
            ]
            for number, (got, right) in enumerate(wanted):
                assert got == right, (number, got, right)
            PYTHON
            python3 ask.py
            """)
    }

    @Test("a helper that is missing, foreign, replaced, silent or talkative grants nothing")
    func helpers() async throws {
        try await inSystem(
            """
            enroll ada work right
            helper=/usr/libexec/omvault/omvault-pam-helper
            chmod 775 "$helper"; answers ada right 'Error in service module'
            chmod 755 "$helper"; chown nobody "$helper"; answers ada right 'Error in service module'
            chown root "$helper"; chmod 777 /usr/libexec/omvault; answers ada right 'Error in service module'
            chmod 755 /usr/libexec/omvault; granted ada right
            mv "$helper" kept; answers ada right 'Error in service module'
            ln -s "$PWD/kept" "$helper"; answers ada right 'Error in service module'
            rm "$helper"
            # The second one takes the question first: a send that fails would refuse before the nonce does.
            for says in 'exit 0' 'printf OMA20123456789abcdefG >&0; head -c 4 /dev/zero >&0; cat <&0 >/dev/null' 'cat <&0 >&0' 'kill -9 $$'; do
                printf '#!/bin/bash\\n%s\\n' "$says" > "$helper"; chmod 755 "$helper"
                answers ada right 'Error in service module'
            done
            printf '#!/bin/bash\\nexec sleep 60\\n' > "$helper"
            module profile=work deadline=1
            answers ada right 'Error in service module'
            """)
    }

    @Test("an unknown option or a missing profile grants nothing")
    func options() async throws {
        try await inSystem(
            """
            enroll ada work right
            for line in '' profile= profile=../work profile=nothere 'profile=work mode=any' 'profile=work deadline=0' \\
                'profile=work nullok' 'profile=work mode=auto helper=/bin/true'; do
                module $line
                answers ada right 'Error in service module|User not known'
            done
            module profile=work mode=auto try_first_pass deadline=30
            granted ada right
            """)
    }

    @Test("R61: root replaces a credential without its old password, and the old password no longer works")
    func replaced() async throws {
        try await inSystem(
            """
            enroll ada work right
            enroll ada work wrong
            answers ada right 'Authentication failure'
            granted ada wrong
            """)
    }

    @Test("only root can use the system store")
    func onlyRoot() async throws {
        try await inSystem(
            """
            enroll ada work right
            chmod 755 "$PWD"
            for verb in 'check ada' 'status ada' 'rm ada --yes'; do
                refused 14 setpriv --reuid=65534 --clear-groups omvault login $verb --system --profile work --no-input
            done
            """)
    }

    @Test("the module exports only the functions that PAM calls, and links no Swift and no cryptography")
    func exports() async throws {
        try await inSystem(
            """
            [[ $(nm -D --defined-only "$module" | sed 's/.* //' | sort | xargs) == \\
                'pam_sm_acct_mgmt pam_sm_authenticate pam_sm_setcred' ]]
            readelf -d "$module" | grep NEEDED > needed
            refused 1 grep -vE 'libpam|libc\\.so' needed
            """)
    }

    // MARK: -

    /// The folder of the module, which is compiled once for all tests.
    private static let module = Task {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = try TestFolder()
        let ran = try await run(
            [repository.appending(path: "Sources/Doors/pam_omvault/build").path, folder.file("pam_omvault.so")], in: folder,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        try #require(ran.status == 0, "\(ran.errors)")
        return folder
    }

    /// Runs `script` where /etc, /var/lib and /usr/libexec are copies that only it sees, with a profile "work" of two
    /// attempts that locks out, and a PAM service that asks the module alone.
    ///
    /// - Parameter dialogue: what is typed at the terminal that the script has then.
    /// - Returns: what it printed, or the terminal showed.
    @discardableResult
    func inSystem(
        _ script: String, typed dialogue: [(prompt: String, answer: String)]? = nil, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let outer = """
            set -euo pipefail
            export built="$(command -v omvault-pam-helper)" agent="$(command -v omvault-agent)"
            cat > .prelude <<'PRELUDE'
            set -euo pipefail
            mkdir .system
            mount -t tmpfs -o mode=755 tmpfs .system
            cp -a /etc .system/etc
            mkdir -p .system/lib .system/libexec/omvault
            for part in etc:/etc lib:/var/lib libexec:/usr/libexec; do mount --bind ".system/${part%%:*}" "${part#*:}"; done
            cp "$built" /usr/libexec/omvault/omvault-pam-helper
            cp "$agent" /usr/libexec/omvault/omvault-agent
            chmod 755 /usr/libexec/omvault/*
            \(Serving.start)
            mv right horse; printf right > right
            # Has the profile ask a path of the server that runs.
            web() {
                omvault -q profile set work AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$port$1" \\
                    "LogoutURL=https://localhost:$port$1" "TrustedCA=$ca" ConnectTimeOut=30 TotalTimeOut=30 \\
                    OfflineAuthAllowed=true MaxLoginAttempts=3 --system
            }

            module() { printf 'auth required %s\\naccount required pam_permit.so\\n' "$module $*" > /etc/pam.d/omvault-test; }
            profile() {
                local name=$1; shift
                omvault -q profile set "$name" --system OfflineAuthAllowed=true MaxLoginAttempts=2 \\
                    OnAttemptsExceeded=lockout
                for pair in "$@"; do omvault -q profile set "$name" "$pair" --system; done
            }
            enroll() {
                omvault -q login enroll "$1" --system --profile "$2" --password-from "file:$3" --kdf-mem 8 --kdf-time 1
            }
            granted() { pamtester omvault-test "$1" authenticate < "$2" > said 2>&1 || { cat said; exit 98; }; }
            answers() {
                local code=0
                pamtester omvault-test "$1" authenticate < "$2" > said 2>&1 || code=$?
                ((code != 0)) && grep -qE "$3" said || { echo "not \\"$3\\" for $1, exit $code:"; cat said; exit 99; }
            }
            profile work
            module profile=work
            PRELUDE
            { cat .prelude; printf '%s\\n' "$SCRIPT"; } > .inside
            unshare --mount bash .inside
            """
        let environment = ["module": try await Self.module.value.file("pam_omvault.so"), "SCRIPT": script]
            .merging(try await Server.environment) { $1 }
        let ran =
            if let dialogue { try await atTerminal(outer, dialogue, environment: environment) } else {
                try await bash(outer, environment: environment)
            }
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output
    }
}
