// The command against servers that run: nginx over TLS with a CA of its own, and one that breaks rules.

import Foundation
import TestSupport
import Testing

/// What every script here begins with: `profile PATH` has the profile `work` ask that path, `check FILE` logs in.
private let start = """
    profile() { basic "https://localhost:$port$1" "TrustedCA=$ca" "${@:2}"; }
    check() {
        local code=0
        omvault -q login check "${user:-alice}" --kdf-mem 8 --kdf-time 1 --password-from "file:$1" "${@:2}" > .said || code=$?
        sed 's/ age=[0-9]*//' .said
        return $code
    }
    charged() { omvault login status --json | grep -o '"charged":[0-9]*'; }

    """

@Suite("Logging in with a server") struct OnlineLoginTests {
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(start + text, location)
    }

    @Test("R22: first online, then offline without the server, wiped by one guess too many, and cached again by the server")
    func course() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            refused 24 check right --mode offline
            check right
            tell stop
            check right
            refused 20 check wrong; refused 20 check wrong
            sort .refused
            check right
            for n in 1 2; do refused 20 check wrong; done
            refused 23 check wrong
            sort .refused
            refused 23 check right
            refused 50 check right --mode online
            tell start
            check right
            tell stop
            check right --mode offline
            omvault log verify --logins
            omvault log ls --logins --json > log
            grep -q '"user":"alice","profile":"work","event":"wiped"' log
            refused 1 grep 'correct horse' log
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "granted offline user=alice profile=work not_online=unreachable",
                "denied attempts_left=0",
                "omvault: error: wrong password; attempts left: 0; the next wrong password wipes the cached credential",
                "omvault: sdk: ORAIDMMOBILE-10003",
                "granted offline user=alice profile=work not_online=unreachable",
                "denied reason=attempts_exceeded",
                "omvault: error: too many wrong passwords: the cached credential was wiped",
                "omvault: hint: the next login online caches a new one", "omvault: sdk: ORAIDMMOBILE-10418",
                "granted online user=alice profile=work", "granted offline user=alice profile=work",
            ])
    }

    @Test("R8: a ledger that cannot be read is set aside by an online success, which says so; the others stay refused")
    func unreadableLedger() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            sed -i '/^bob:/d' web/users; sed 's/^alice/bob/' web/users | grep ^bob: >> web/users
            check right; user=bob check right
            ledger=.local/state/omvault/logins.db
            head -c 9000 /dev/urandom > $ledger
            refused 30 check right --mode offline
            omvault login check alice --password-from file:right --kdf-mem 8 --kdf-time 1 > /dev/null 2> said
            sed 's/[0-9]\\{8\\}T[0-9]\\{6\\}Z/TIME/; s!/[^ ]*/\\.local!.local!' said
            ls .local/state/omvault | sed 's/[0-9]\\{8\\}T[0-9]\\{6\\}Z/TIME/'
            check right --mode offline
            user=bob
            refused 31 check right --mode offline
            for n in 1 2 3; do refused 24 check right --mode offline --domain other; done
            omvault log verify --logins
            omvault log ls --logins --json | grep -o '"event":"[a-z_]*","count":[0-9]*'
            omvault log ls --logins | cut -f 5,6 | sed '$!d; s/since .*/since TIME/'
            check right; check right --mode offline
            : > $ledger
            omvault -q login check bob --json --password-from file:right --kdf-mem 8 --kdf-time 1 |
                grep -o '"ledger_set_aside":".*/logins.db.damaged-[0-9TZ-]*"' | grep -c .
            ls .local/state/omvault | wc -l
            left() { grep -c 'omvault: a damaged ledger is still there: .*logins.db.damaged-[0-9TZ-]*; it may hold' said; }
            omvault login status 2> said > /dev/null; left
            omvault login status --json | grep -o '"set_aside":\\[.*' | grep -o 'damaged-' | grep -c .
            omvault logout bob --clear 2> said; left
            omvault login rm alice --yes 2> said; left
            rm $ledger.damaged-*
            check right; omvault login rm bob --yes 2> said; left || true
            omvault login status --json | grep -o '"set_aside":.*'
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted online user=bob profile=work",
                "omvault: the ledger could not be read, so it was renamed to .local/state/omvault/logins.db.damaged-TIME; "
                    + "its other logins are refused until each one logs in online or is removed; it may hold credentials and "
                    + "remembered passwords: delete it when you no longer need it",
                "logins.db", "logins.db.damaged-TIME", "granted offline user=alice profile=work",
                "\"event\":\"ledger_replaced\",\"count\":1", "\"event\":\"granted_online\",\"count\":1",
                "\"event\":\"granted_offline\",\"count\":1", "\"event\":\"refused\",\"count\":1",
                "\"event\":\"refused\",\"count\":3", "refused\tno_credential; 3 times since TIME",
                "granted online user=bob profile=work", "granted offline user=bob profile=work", "1", "3", "2", "2", "2", "2",
                "granted online user=bob profile=work", "0", #""set_aside":[]}"#,
            ])
    }

    @Test("R24, 25: a password changed on the server takes the cached one away at its first 401, another one's 401 does not")
    func changedPassword() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            refused 20 check wrong
            check right --mode offline
            printf 'changed' > changed
            printf 'alice:%s\\n' "$(openssl passwd -5 -in changed)" > web/users
            refused 20 check changed --mode offline
            check right --mode offline
            refused 20 check right
            sort .refused
            refused 24 check right --mode offline
            check changed
            check changed --mode offline
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted offline user=alice profile=work",
                "granted offline user=alice profile=work", "denied reason=rejected",
                "omvault: error: the server refused the user name or the password", "omvault: sdk: ORAIDMMOBILE-10003",
                "granted online user=alice profile=work", "granted offline user=alice profile=work",
            ])
    }

    @Test("R22: each answer that is no verdict has its exit code, and only those of a server that is not there fall back")
    func answers() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            for code in 502 503 504; do profile "/login?as=status/$code"; check right; done
            for code in 500 501 507 400 404 418; do profile "/login?as=status/$code"; refused 52 check right; done
            for code in 403 423; do profile "/login?as=status/$code"; refused 51 check right; done
            profile '/login?as=retry-429'
            refused 52 check right --json
            grep -o '"reason":"server_error"\\|"retry_after":7' .refused | sort -u
            profile '/login?as=retry-seconds'
            refused 52 check right --json
            grep -o '"retry_after":120' .refused | sort -u
            for path in down away behind-down; do profile "/login?as=$path"; refused 52 check right; grep ' error: ' .refused; done
            grep -c 'hint: LoginURL must be an address that does not redirect' .refused
            profile '/login?as=open'; refused 52 check right
            profile /login RequiredTokens=SID; check right
            profile /login RequiredTokens=OTHER; refused 52 check right
            omvault -q profile set work --unset RequiredTokens
            basic http://elsewhere.example/login; refused 9 check right
            charged
            """)
        #expect(
            lines == ["granted online user=alice profile=work"]
                + Array(repeating: "granted offline user=alice profile=work not_online=unreachable", count: 3) + [
                    #""reason":"server_error""#, #""retry_after":7"#, #""retry_after":120"#,
                    "omvault: error: the server gave no usable answer: it redirects the login to an address without encryption (status 301)",
                    "omvault: error: the server gave no usable answer: it redirects the login to another address (status 302)",
                    "omvault: error: the server gave no usable answer: it redirects the login to another address (status 302)",
                    "1", "granted online user=alice profile=work", #""charged":0"#,
                ])
    }

    @Test("a server whose certificate is bad is told nothing and is no way offline, unless the profile says so")
    func badCertificates() async throws {
        let lines = try await script(
            """
            serve web nginx
            good=$port
            for bad in "$port_name" "$port_foreign" "$port_expired" "$port_self"; do
                port=$bad
                profile /login
                refused 52 check right
                grep ' hint: ' .refused | sed "s/$port/PORT/; s!$ca!CA!"
            done
            all_logged
            refused 1 grep -q 'GET /login' "$log"
            port=$good
            profile /login
            check right
            omvault -q profile set work "TrustedCA=$selfsigned"
            refused 52 check right
            # Now that a credential is cached, the hint that names it helps.
            grep ' hint: --mode' .refused
            omvault -q profile set work OfflineOnUntrustedServer=true
            check right
            refused 52 check right --mode online
            profile /login OfflineOnUntrustedServer=false
            chmod g+w "$ca"
            refused 9 check right
            chmod g-w "$ca"
            omvault -q profile set work TrustedCA=/nonexistent/ca.pem
            refused 9 check right
            grep ' error: ' .refused
            """)
        let certificate =
            "omvault: hint: openssl s_client -connect localhost:PORT -CAfile CA shows the certificate; TrustedCA names the file of the "
            + "authorities to trust"
        #expect(
            lines == ["omvault: hint: the server's certificate must contain the host name in LoginURL"]
                + Array(repeating: certificate, count: 3) + [
                    "granted online user=alice profile=work", "omvault: hint: --mode offline uses the cached credential",
                    "granted offline user=alice profile=work not_online=untrusted_server",
                    "omvault: error: the server was not asked: /nonexistent/ca.pem (TrustedCA) does not exist",
                ])
    }

    @Test("29: a server that says nothing is given up at the deadline, in auto the cache answers, and Ctrl-C ends it at once")
    func blackHole() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            serve odd odd
            basic "http://127.0.0.1:$blackhole/login" ConnectTimeOut=1 TotalTimeOut=1
            refused 50 check right
            grep ' error: ' .refused
            began=$SECONDS
            refused 50 check right --mode online
            (( SECONDS - began < 60 ))
            basic "http://127.0.0.1:$blackhole/login" ConnectTimeOut=60 TotalTimeOut=300
            set -m
            began=$SECONDS
            # What starts a test's processes holds signals back, and they inherit that.
            python3 -c 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execvp(sys.argv[1], sys.argv[1:])' \\
                strace -f -o trace -e trace=execve,connect omvault login check alice --password-from file:right &
            tracer=$!
            while_runs $tracer grep -qs "sin_port=htons($blackhole)" trace
            read -r omvault _ < trace
            kill -INT "$omvault"
            # strace ends with the last process that it follows, so the helper is gone then too.
            code=0; wait $tracer || code=$?
            echo "interrupted $code"
            (( SECONDS - began < 200 ))
            omvault login status --json | grep -o '"charged":[0-9]*' | sort -u
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "omvault: error: the server was not reached: it did not answer in time; and offline: no credential is "
                    + "cached for this user and profile",
                "interrupted 130", #""charged":0"#,
            ])
    }

    @Test("29: behind a server that hangs the cached credential answers within the deadline and one stretch")
    func hangingServer() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            pid=$(< web/pid)
            kill -STOP "$pid"
            omvault -q profile set work ConnectTimeOut=1 TotalTimeOut=1
            began=$SECONDS
            check right
            (( SECONDS - began < 60 ))
            kill -CONT "$pid"
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "granted offline user=alice profile=work not_online=unreachable",
            ])
    }

    @Test("R21: offline nothing is connected to, whether the password is right, wrong or of nobody")
    func noConnection() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            printf 'SID=abc' > session
            quiet() {
                strace -f -o trace -e trace=connect,socket,execve omvault -q login check "$1" --mode offline \\
                    --password-from "file:$2"
            }
            quiet alice right > granted
            refused 20 quiet alice wrong
            refused 20 quiet alice session
            refused 24 quiet bob right
            refused 1 grep -e 'AF_INET' -e connect -e omvault-agent trace
            grep -c execve trace
            omvault -q login check alice --password-from file:right > granted
            strace -f -o trace -e trace=connect omvault -q login check alice --password-from file:right > granted
            grep -q AF_INET trace
            """)
        #expect(lines == ["granted online user=alice profile=work", "1"])
    }

    @Test("26, 27: what the server's policy says is kept, shown, and refused offline even where the profile allows it")
    func serverPolicy() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login MaxLoginAttempts=9 ApplicationName=WhitePages "ProfileURL=https://localhost:$port/profile"
            check right
            status() {
                omvault login status alice --profile work --json | grep -o '"limit":[0-9]*\\|"server_epoch":[0-9a-z]*\\|"reason":"[a-z_]*"'
            }
            status
            printf '{"epoch": 6, "MaxLoginAttempts": 8}' > web/www/profile.json
            check right
            status
            printf '{"epoch": 8, "OfflineAuthAllowed": false}' > web/www/profile.json
            check right
            words() { grep -v denied .refused; }
            refused 13 check right --mode offline; words
            refused 13 omvault login alice --mode offline --password-from file:right; words
            omvault log ls --logins | cut -f 5,6 | grep policy_
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""limit":3"#, #""server_epoch":7"#,
                "granted online user=alice profile=work", #""limit":3"#, #""server_epoch":7"#,
                "granted online user=alice profile=work not_cached=offline_not_allowed",
                "omvault: error: the server's policy does not allow offline logins",
                "omvault: hint: log in online (--mode online): the server may have a new policy",
                "omvault: error: the server's policy does not allow offline logins",
                "omvault: hint: log in online (--mode online): the server may have a new policy",
                "policy_taken\tthe server's, epoch 7",
                "policy_refused\tthe server's is older than the one known, or another of its epoch: epoch 6",
                "policy_taken\tthe server's, epoch 8",
            ])
    }

    @Test("31: domains are logins of their own, at the server and in the cache")
    func domains() async throws {
        let lines = try await script(
            """
            serve web nginx
            printf 'of acme' > acme
            profile /tenant
            check acme --domain acme
            refused 20 check right --domain acme
            check right
            check acme --domain acme --mode offline
            check right --mode offline
            refused 24 check right --mode offline --domain other
            omvault -q login rm alice --domain acme --yes
            refused 24 check acme --domain acme --mode offline
            check right --mode offline
            profile /tenant identityDomain=acme
            check acme
            check acme --mode offline
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted online user=alice profile=work",
                "granted offline user=alice profile=work", "granted offline user=alice profile=work",
                "granted offline user=alice profile=work", "granted online user=alice profile=work",
                "granted offline user=alice profile=work",
            ])
    }

    @Test("OAuth's resource owner: granted, refused, a blocked account takes the cache away, a wrong client takes nothing")
    func oauth() async throws {
        let lines = try await script(
            """
            serve odd odd
            printf 'client-secret' > secret
            token() {
                omvault -q profile set work AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \\
                    "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=$1" OAuthClientID=omvault "OAuthClientSecret=file:$PWD/secret" \\
                    OfflineAuthAllowed=true MaxLoginAttempts=2 ConnectTimeOut=30 TotalTimeOut=30
            }
            token plain
            check right
            grep -o 'Basic [A-Za-z0-9=]*' "$seen" | tail -n 1 | cut -d ' ' -f 2 | base64 -d; echo
            check right --mode offline
            token invalid-client; refused 52 check right
            token busy; check right
            token limit; refused 52 check right
            token denied; refused 51 check right
            check right --mode offline
            token disabled; refused 22 check right
            refused 24 check right --mode offline
            rm secret
            refused 60 check right
            refused 24 check right --mode offline
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "omvault:client-secret", "granted offline user=alice profile=work",
                "granted offline user=alice profile=work not_online=unreachable", "granted offline user=alice profile=work",
            ])
    }

    @Test("R60 a login that a server gave opens a vault's slot without it, and logging in online again keeps the slot good")
    func vaultSlot() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            export OMVAULT_PASSWORD_FROM=file:$PWD/vault
            printf 'of the vault' > vault
            omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
            printf value > value; omvault -q add item --field x=file:value
            omvault -q key add-slot --type login alice --login-password-from file:right
            tell stop
            omvault get item:x --keyslot 2 --password-from file:right; echo
            refused 20 omvault get item:x --keyslot 2 --password-from file:wrong
            tell start
            made=$(date +%s); later() { (( $(date +%s) > made + 1 )); }; eventually later
            check right
            omvault get item:x --keyslot 2 --password-from file:right; echo
            omvault key slots | grep login | cut -f 2,5,6
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "value", "granted online user=alice profile=work", "value",
                "login\tok\talice (work)",
            ])
    }

    @Test("R60 a vault's slot goes the way of its login: the server that says no keeps it shut, and one that must be asked is")
    func vaultSlotAsked() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            export OMVAULT_PASSWORD_FROM=file:$PWD/vault
            printf 'of the vault' > vault
            omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
            printf value > value; omvault -q add item --field x=file:value
            omvault -q key add-slot --type login alice --login-password-from file:right
            omvault -q profile set work ConnectivityMode=Online "LoginURL=https://localhost:$port/login?as=status/403"
            refused 51 omvault get item:x --keyslot 2 --password-from file:right
            refused 51 omvault key add-slot --type login alice --login-password-from file:right
            omvault -q profile set work "LoginURL=https://localhost:$port/login" MaxLoginAttempts=1
            refused 20 omvault get item:x --keyslot 2 --password-from file:wrong
            charged
            tell stop
            refused 50 omvault get item:x --keyslot 2 --password-from file:right
            omvault -q profile set work ConnectivityMode=Auto
            omvault get item:x --keyslot 2 --password-from file:right; echo
            """)
        #expect(lines == ["granted online user=alice profile=work", "\"charged\":0", "value"])
    }

    @Test("R60 a server that says 401 to the right password takes the login's slot along, and not one item of the vault")
    func vaultSlotRefused() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            export OMVAULT_PASSWORD_FROM=file:$PWD/vault
            printf 'of the vault' > vault
            omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
            printf value > value; omvault -q add item --field x=file:value
            omvault -q key add-slot --type login alice --login-password-from file:right
            state() { omvault key slots | grep login | cut -f 2,5,6; }
            profile '/login?as=status/401' ConnectivityMode=Online
            refused 20 omvault get item:x --keyslot 2 --password-from file:right
            state
            omvault ls; omvault get item:x; echo
            profile /login ConnectivityMode=Auto
            check right
            refused 24 omvault get item:x --keyslot 2 --password-from file:right
            omvault -q key add-slot --type login alice --login-password-from file:right
            omvault get item:x --keyslot 2 --password-from file:right; echo
            state
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "login\tstale\talice (work)", "item", "value",
                "granted online user=alice profile=work", "value", "login\tok\talice (work)",
            ])
    }

    @Test("as JSON: the way a login went, why not the other, how long it is good, and how long to wait")
    func json() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login OfflineCredentialMaxAge=1000000 AttemptDelay=3600
            check right --json
            tell stop
            check right --json
            check wrong --json 2> /dev/null || echo "$?"
            check right --json 2> /dev/null || echo "$?"
            omvault login status --json
            """)
        #expect(lines.count == 7 && lines[3] == "20" && lines[5] == "21", "\(lines)")
        let (online, offline) = (try Ran.json(lines[0]), try Ran.json(lines[1]))
        #expect(online["mode"] as? String == "online" && online["not_cached"] is NSNull)
        #expect(offline["mode"] as? String == "offline" && offline["not_online"] as? String == "unreachable")
        #expect(online["attempts_left"] as? Int == 2 && offline["attempts_left"] as? Int == 2)
        #expect(online["expires"] as? String != nil && online["expires"] as? String == offline["expires"] as? String)
        let (wrong, early) = (try Ran.json(lines[2]), try Ran.json(lines[4]))
        #expect(wrong["mode"] as? String == "offline" && wrong["attempts_left"] as? Int == 1)
        #expect(wrong["on_exceeded"] as? String == "wipe" && wrong["reason"] as? String == "wrong_password")
        #expect(early["not_offline"] as? String == "delayed" && early["reason"] as? String == "unreachable")
        #expect((3_000...3_600).contains(early["retry_after"] as? Int ?? 0))
        let status = try Ran.login(lines[6])
        #expect(status["limit"] as? Int == 2 && status["limit_mode"] as? String == "exceeds")
        #expect(status["last_online"] is String && status["expires"] as? String == online["expires"] as? String)
        #expect(status["reason"] as? String == "delayed" && (3_000...3_600).contains(status["retry_after"] as? Int ?? 0))
    }

    @Test("modes and servers that cannot go together are refused before a password is asked for")
    func refusals() async throws {
        _ = try await script(
            """
            omvault -q profile set bare OfflineAuthAllowed=true
            user=ada
            refused 9 omvault login check ada --profile bare --mode online --no-input
            basic https://localhost:1/login
            refused 13 omvault login enroll ada --profile work --no-input
            omvault -q profile set later AuthServerType=CertificateBasedAuthentication LoginURL=https://localhost:1/ \\
                LogoutURL=https://localhost:1/ ApplicationName=later OfflineAuthAllowed=true
            refused 4 omvault login check ada --profile later --no-input
            refused 4 omvault login check ada --profile later --mode online --no-input
            refused 24 check right --profile later --mode offline
            basic https://localhost:1/login CollectIdentityDomain=true
            refused 8 check right --profile work
            omvault -q profile set work ConnectivityMode=Offline CollectIdentityDomain=false
            refused 24 check right --profile work
            refused 50 check right --profile work --mode online
            mkdir -m 700 bin; cp "$(command -v omvault)" bin/
            refused 61 bin/omvault login check ada --profile work --mode online --password-from file:right
            """)
    }
}
