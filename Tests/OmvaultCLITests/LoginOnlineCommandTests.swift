// `omvault login` with a server that runs: what it remembers, and what the server's answers take away.

import Foundation
import TestSupport
import Testing

@Suite("Logging in at the command line, with a server") struct LoginOnlineCommandTests {
    private static let start = """
        set -e
        \(Serving.start)
        serve nginx
        omvault -q profile set work AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$port/login" \\
            "LogoutURL=https://localhost:$port/login" "TrustedCA=$ca" ConnectTimeOut=30 TotalTimeOut=30 \\
            OfflineAuthAllowed=true MaxLoginAttempts=2 AutoLoginAllowed=true KeychainDataProtection=always
        said() {
            local wanted=$1 code=0; shift
            "$@" > .said 2> .told || code=$?
            [[ $code == "$wanted" ]] || { echo "exit $code, not $wanted: $*"; cat .said .told; exit 99; }
            sed 's/ age=[0-9]*//' .said
        }
        login() { omvault login --kdf-mem 8 --kdf-time 1 "$@"; }
        remembered() {
            omvault login status --json | grep -o '"remembered":.*' | grep -o '"user":"[a-z]*"\\|"password":[a-z]*\\|"armed":[a-z]*' | xargs
        }

        """

    @Test("R53: an auto login online, offline when the server is gone, kept through an outage, taken away by a 401")
    func course() async throws {
        let ran = try await bash(
            Self.start + """
                said 0 login alice --remember auto --password-from file:right
                said 0 login
                tell stop
                said 0 login
                said 50 login --mode online
                remembered
                tell start
                said 0 login
                printf 'alice:%s\\n' "$(openssl passwd -5 changed)" > web/users
                said 20 login
                remembered
                said 8 login
                """, environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "granted online user=alice profile=work", "granted online user=alice profile=work",
                "granted offline user=alice profile=work not_online=unreachable", "denied reason=unreachable",
                "user:alice password:true armed:true", "granted online user=alice profile=work",
                "denied reason=rejected", "user:alice password:false armed:false",
            ])
    }

    @Test("an auto login that the server refuses ends the user's session, also with N = 1, where nothing is asked after it")
    func refusedAtOnce() async throws {
        let ran = try await bash(
            Self.start + """
                mkdir -m 700 run; export XDG_RUNTIME_DIR=$PWD/run
                at_end='omvault -q agent stop'
                omvault -q profile set work MaxLoginAttempts=1
                said 0 login alice --remember auto --password-from file:right
                sessions() { { omvault login status --json | grep -o '"state":"[a-z]*"' || true; } | wc -l; }
                sessions
                printf 'alice:%s\\n' "$(openssl passwd -5 changed)" > web/users
                said 20 login --force
                said 8 login --force
                sessions
                """, environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "granted online user=alice profile=work", "1", "denied reason=rejected", "0",
            ])
    }

    /// A vault with an item, and an agent to open it in; `look` prints the item where nobody has to type for it.
    private static let vault = """
        mkdir -m 700 run; export XDG_RUNTIME_DIR=$PWD/run
        at_end='omvault -q agent stop'
        printf vault > vault; printf kept > value
        omvault -q init --password-from file:vault --no-recovery --kdf-mem 8 --kdf-time 1
        omvault -q add item --field f=file:value --password-from file:vault
        look() { omvault get item:f --no-input 2> /dev/null || echo -n "shut $?"; echo; }
        asked() { all_logged; grep -c ' alice .*"GET /login ' "$log"; }
        # Does what the notice says.
        obey() {
            sed -n 's/^omvault: vault "personal" was not unlocked: //p' .told
            $(sed -n 's/.*; \\(omvault key add-slot .*\\) makes one$/\\1/p' .told) -q --password-from file:vault --login-password-from "file:$1"
        }

        """

    @Test("--unlock: one password and one question to the server open the login's slot too; without a good slot the login stands")
    func unlock() async throws {
        let ran = try await bash(
            Self.start + Self.vault + """
                said 0 login alice --unlock --password-from file:right
                obey right
                look
                before=$(asked)
                said 0 login alice --unlock --password-from file:right --json | grep -o '"result":"granted"\\|"vault_unlocked":[a-z]*'
                echo $(($(asked) - before)); look
                omvault -q lock
                said 20 login alice --unlock --password-from file:wrong
                look
                tell stop
                said 0 login alice --unlock --password-from file:right
                look
                omvault -q lock
                tell start
                printf new > new; printf 'alice:%s\n' "$(openssl passwd -5 -in new)" > web/users
                said 0 login alice --unlock --password-from file:new
                obey new
                look
                said 0 login alice --unlock --password-from file:new
                look
                said 6 login alice --unlock --vault other --password-from file:new
                unset XDG_RUNTIME_DIR
                said 61 login alice --unlock --password-from file:new
                """, environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let command = "omvault key add-slot --type login --profile work alice makes one"
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "granted online user=alice profile=work", "it has no slot for this login; \(command)", "shut 8",
                #""result":"granted""#, #""vault_unlocked":true"#, "1", "kept", "denied reason=rejected", "shut 8",
                "granted offline user=alice profile=work not_online=unreachable", "kept",
                "granted online user=alice profile=work",
                "slot 2 belongs to an earlier enrolment of this login; \(command)", "shut 8",
                "granted online user=alice profile=work", "kept",
            ])
    }

    @Test("--unlock: neither a session nor a remembered password opens a vault; whoever types does, once")
    func unlockTyped() async throws {
        let ran = try await atTerminal(
            Self.start + Self.vault + """
                login alice --remember auto --password-from file:right
                omvault -q key add-slot --type login alice --password-from file:vault --login-password-from file:right
                login alice
                login --unlock --no-input || echo "nobody typed: $?"
                login --force --no-input > words && echo "auto login: $(cut -d ' ' -f 1,2 words)"
                look
                login alice --unlock
                look
                """,
            [
                ("granted online user=alice", ""), ("granted session user=alice", ""), ("nobody typed: 8", ""),
                ("auto login: granted online", ""), ("shut 8", ""), ("Password of alice: ", "correct horse 42\n"),
                ("granted online user=alice", ""), ("unlocked personal", ""), ("kept", ""),
            ], environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("a terminal asks for the identity domain where the profile collects it, and a login slot takes --domain")
    func domains() async throws {
        let ran = try await atTerminal(
            Self.start + """
                omvault -q profile set work CollectIdentityDomain=true RememberUsernameAllowed=true
                printf 'acme.alice:%s\\n' "$(openssl passwd -5 -in right)" > web/users
                login
                login --remember user
                printf vault > vault
                omvault -q init --password-from file:vault --no-recovery --kdf-mem 8 --kdf-time 1
                slot() { omvault key add-slot --type login alice --password-from file:vault --login-password-from file:right "$@"; }
                slot || echo "without: $?"
                slot --domain acme && echo slotted
                slot --domain other || echo "other: $?"  # whom the server does not know
                """,
            [
                ("User name: ", "alice\n"), ("Identity domain: ", "acme\n"), ("Password of alice: ", "correct horse 42\n"),
                ("[nothing]: ", "\n"), ("granted online user=alice", ""),
                ("User name: ", "alice\n"), ("Identity domain: ", "acme\n"), ("Password of alice: ", "correct horse 42\n"),
                ("granted online user=alice", ""), ("without: 8", ""), ("slotted", ""), ("other: 20", ""),
            ], environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }
}
