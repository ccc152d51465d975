// The rules of the command line that hold for all commands or all options: rules 13, 14 and 16.

import ArgumentParser
import Foundation
import Glibc
import OMJSON
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

extension ShellRuleTests {
    // MARK: - Sources

    @Test("rule 13: every option that ends in -from, of every command, reads a source by the one grammar")
    func grammar() throws {
        var (options, commands) = (0, 0)
        func check(_ value: Any, of command: any ParsableCommand.Type) {
            for child in Mirror(reflecting: value).children {
                guard let label = child.label else { continue }
                if label.hasSuffix("From") {
                    options += 1
                    let type = "\(Swift.type(of: child.value))"
                    // The first two have a word more: `random`, and the number of a slot.
                    let others = ["_ivFrom": "String", "_alsoFrom": "SlotSource"]
                    let isSource = type.contains(others[label] ?? "SecretSourceArgument") || type.contains("KeySourceArgument")
                    #expect(isSource, "\(command): \(label) is \(type)")
                } else if let group = child.value as? any HeldGroup {
                    check(group.held.init(), of: command)
                }
            }
        }
        func walk(_ command: any ParsableCommand.Type) {
            commands += 1
            check(command.init(), of: command)
            command.configuration.subcommands.forEach(walk)
        }
        walk(CommandTree.self)
        #expect(commands > 60 && options > 100, "\(commands) commands, \(options) options")
    }

    @Test(
        "rule 13: an option gives the same answer from each source that needs no terminal",
        arguments: ["stdin", "fd:7", "file:secret", "env:CANARY", "cmd:cat secret", "cred:secret"])
    func sources(source: String) async throws {
        let ran = try await bash(
            """
            set -e
            printf 'correct horse' > password; printf hunter2 > secret; printf 'correct horse' > other
            printf 'otpauth://totp/x:y?secret=GEZDGNBVGY3TQOJQ' > uri; printf hunter3 > next
            printf 0123456789abcdef0123456789abcdef > key; printf git > word
            with=(--kdf-mem 8 --kdf-time 1)
            # Its output, with the bytes of this file from the source.
            from() {
                local file=$1; shift; mkdir -p credentials; cp "$file" credentials/secret; cp "$file" given
                local words=() word
                for word in "$@"; do words+=("${word/SOURCE/${source/secret/given}}"); done
                [[ $source != cred:* ]] || words=("${words[@]/cred:given/cred:secret}")
                CANARY=$(< "$file") CREDENTIALS_DIRECTORY=$PWD/credentials omvault "${words[@]}" < "$file" 7< "$file"
            }
            from password -q init "${with[@]}" --no-recovery --password-from SOURCE
            from password ls --password-from SOURCE
            export OMVAULT_PASSWORD_FROM=file:other
            from secret -q add github --field password=SOURCE; omvault get github; echo
            from next -q set github:password --value-from SOURCE; omvault get github; echo
            from word find --query-from SOURCE
            from secret -q key add-slot --type password --new-password-from SOURCE
            omvault -q get github --no-agent --keyslot 2 --password-from file:secret; echo
            from secret -q credential add https://a.example --username ada --password-from SOURCE
            omvault credential get https://a.example --field password; echo
            from secret -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=9
            from secret -q login enroll ada --profile work --password-from SOURCE "${with[@]}"
            from secret login check ada --profile work --password-from SOURCE | cut -d ' ' -f 1,2
            from uri otp --uri-from SOURCE | tr 0-9 d
            from secret crypto hash next --alg sha256 --encoding ldap --salt-from SOURCE
            from secret crypto hmac next --key-from SOURCE
            from secret crypto kdf --alg pbkdf2 --value-from SOURCE --salt-from file:next --iterations 10000 --length 16
            from secret crypto encrypt -i next -o sealed --password-from SOURCE "${with[@]}" -q
            from secret crypto decrypt -i sealed --password-from SOURCE; echo
            from key crypto encrypt -i next -o sealed2 --key-from SOURCE -q
            from key crypto decrypt -i sealed2 --key-from SOURCE; echo
            from secret -q crypto keygen --type ed25519 -o pair --encrypt-from SOURCE
            from secret crypto inspect pair --password-from SOURCE | head -3
            """, environment: ["source": source])
        #expect(ran.output == Self.answers, "\(ran)")
    }

    private static let answers = """
        hunter2
        hunter3
        github
        hunter3
        hunter2
        granted offline
        dddddd
        {SSHA256}+jQLQy6CwRXQhn/k8lOKLmzfTV7WCARpjp6R0K+m5fxodW50ZXIy
        e34cfec171378bee0e072f9ff3eb12d045a173d6be5642e824ed0c945d467753
        29ed9ddb238f8c53bd550b890da2112f
        hunter3
        hunter3
        format\tencrypted PKCS#8
        pem\tyes
        holds\tprivate key

        """

    // MARK: - JSON

    /// How a command with `--json` can fail, as what a script does to the home before.
    private static let failures: [(name: String, change: String)] = [
        ("no vault", "rm -r .local"),
        ("a wrong password", "printf wrong > password"),
        ("no password", "export OMVAULT_PASSWORD_FROM=; export OMVAULT_NO_INPUT=1"),
        ("a damaged vault", "head -c 30000 /dev/zero > \"$vault\""),
        ("an older vault", "cp \"$vault\" old; omvault -q rm spare; cp old \"$vault\"; rm -f \"$vault\"-*"),
        ("an open folder", "chmod 755 .local/state/omvault-device"),
        ("a lost device key", "rm .local/state/omvault-device/device.key"),
        ("a full disk", "out=/dev/full"),
        ("a folder in the vault's place", "rm \"$vault\"*; mkdir \"$vault\""),
    ]

    private static let jsonLines = [
        "ls", "get github", "get none", "show github", "show github --reveal", "history github", "find ada", "log ls",
        "log verify",
        "verify", "verify --deep", "key slots", "policy show", "policy explain github", "status", "vault ls", "doctor",
        "add new --plain a=b", "set github --plain username=eve", "mv github other", "cp github copy", "rm github",
        "restore github",
        "tag github red", "expire github 2030-01-01", "backup create backup", "backup verify none",
        "export --to csv -o out --reveal-plaintext-risk",
        "import none", "otp github", "gen --save", "key passwd --new-password-from file:secret", "login status",
        "login check ada",
        "profile ls", "sync status", "device ls", "credential ls", "cert ls", "agent status", "unlock", "lock",
    ]

    @Test(
        "rules 2 and 14: however a command fails, -q hides no error, and with --json both streams have only JSON",
        arguments: failures.indices)
    func json(failure: Int) async throws {
        let mode = Self.failures[failure]
        // A whole run tries each line in each way. A sample tries each line in one way, in turn, and the first lines in all.
        let lines = Self.jsonLines.enumerated().filter { line in
            Sweep.isWhole || line.offset < 3 || line.offset % Self.failures.count == failure
        }.map(\.element)
        let ran = try await bash(
            Self.home + """
                export OMVAULT_PASSWORD_FROM=file:password out=output
                omvault -q add spare --field f=file:secret
                tar -cf home.tar .local password
                while read -r line; do
                    rm -rf .local; tar -xf home.tar; out=output; : > output
                    printf '\\036%s\\037' "$line"
                    (
                        \(mode.change)
                        code=0; omvault $line --json < /dev/null > $out 2> errors || code=$?
                        printf '%s\\037' $code; cat output; printf '\\037'; cat errors
                    )
                    rm -rf .local; tar -xf home.tar; out=output
                    (
                        \(mode.change)
                        code=0; omvault -q $line < /dev/null > $out 2> errors || code=$?
                        printf '\\037%s\\037' $code; cat errors
                    )
                done << 'END'
                \(lines.joined(separator: "\n"))
                END
                """)
        let ended = ran.output.split(separator: "\u{1E}").map {
            $0.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
        }
        #expect(ended.count == lines.count, "\(mode.name): \(ran)")
        var failed = 0
        for one in ended {
            try #require(one.count == 6, "\(mode.name): \(one)")
            func isJSON(_ text: String) -> Bool {
                text.split(separator: "\n").allSatisfy { (try? JSON(parsing: Array($0.utf8).span)) != nil }
            }
            #expect(isJSON(one[2]), "\(mode.name): \(one)")
            if one[4] != "0" { #expect(one[5].contains("error: "), "-q, \(mode.name): \(one)") }
            guard one[1] != "0" else { continue }
            failed += 1
            let documents = one[3].split(separator: "\n")
            #expect(documents.count == 1 && isJSON(one[3]), "\(mode.name): \(one)")
        }
        #expect(failed > 0, "\(mode.name) fails nothing")
    }

    // MARK: - Without a network

    /// The verbs of the vault, with a number in the names that they make.
    private static let offlineVerbs = """
        all() {
            local one=one$1 two=two$1 three=three$1 work=work$1
            omvault add $one --plain username=ada --field password=file:secret --field otp=file:uri
            omvault get $one; omvault show $one; omvault set $one:password --value-from file:wrong; omvault history $one
            omvault otp $one; EDITOR=true omvault edit $one:password; OMVAULT_CLIP_COPY_CMD='tee copied' omvault get $one --clip
            omvault ls; omvault find ada; omvault mv $one $two; omvault cp $two $three; omvault tag $two red
            omvault expire $two 2099-01-01; omvault rm $two; omvault restore $two; omvault rm $three $two --purge --yes
            omvault run --env S=om://personal/github/password -- true; omvault inject < /dev/null; omvault redact -i secret
            omvault policy show; omvault policy explain github; omvault policy set history 5$1
            omvault status; omvault vault ls; omvault vault default; omvault doctor; omvault audit
            omvault log ls; omvault log verify; omvault verify; omvault key slots
            omvault credential add https://$one.example --username ada --password-from file:secret
            omvault credential get https://$one.example; omvault credential ls; omvault cert ls
            omvault -V $work init --no-recovery --kdf-mem 8 --kdf-time 1; omvault -V $work key rekey --yes
            omvault -V $work key passwd --new-password-from file:password; omvault -V $work key add-slot --type recovery
            omvault vault rename $work home$1
            omvault backup create backup$1; omvault backup verify backup$1
            mkdir else$1
            HOME=$PWD/else$1 omvault backup restore backup$1 --recovery-from file:code --new-password-from file:password
            omvault export --to csv --reveal-plaintext-risk -o exported$1
            omvault import exported$1 --from csv --existing skip
        }
        export OMVAULT_PASSWORD_FROM=file:password
        # An agent that stays would keep strace.
        trap 'omvault -q agent stop' EXIT
        all 1
        omvault unlock
        all 2
        omvault lock

        """

    /// The other verbs, and why they are not tried here.
    private static let others = [
        "agent": "the agent itself", "crypto": "opens no socket by rule 11", "gen": "opens no socket by rule 11",
        "exit-codes": "opens no socket by rule 11", "vectors": "opens no socket by rule 11",
        "completion": "prints a script", "manual": "prints the manual", "tour": "runs verbs of this list",
        "client": "asks a server", "login": "may ask a server", "logout": "may ask a server", "profile": "may ask a server",
        "rest": "asks a server", "token": "asks a server", "helper": "waits for another program",
        "sync": "asks a remote", "device": "asks a remote",
        "cert attach": "is for a server", "cert csr": "prints a request", "cert import": "reads a foreign file",
        "cert rm": "needs a certificate", "cert show": "needs a certificate", "cert try": "asks a server",
        "credential rm": "writes as add does", "credential update": "writes as add does",
        "key rm-slot": "writes as add-slot does",
        "log begin": "is for a broken log", "log export": "prints what ls reads", "vault create": "is init",
    ]

    @Test("rule 16: each verb is tried without a network, or it is known why not")
    func offlineVerbsAreWhole() {
        let script = Self.offlineVerbs.replacing("-V $work ", with: "").replacing("\n", with: " ").replacing(";", with: " ")
        let missing = JSONFailureTests.verbs.filter { verb in
            !script.contains("omvault \(verb) ") && Self.others[verb] == nil
                && Self.others[String(verb.split(separator: " ")[0])] == nil
        }
        #expect(missing.isEmpty)
        for name in Self.others.keys {
            #expect(JSONFailureTests.verbs.contains { $0 == name || $0.hasPrefix("\(name) ") }, "\(name) is no verb")
        }
    }

    private static let noNetwork = geteuid() == 0 ? "-n" : "-Urn"

    @Test(
        "rule 16: without a network every verb of the vault works, and connects to nothing but the agent",
        .enabled("this system makes no namespace") { try await bash("unshare \(noNetwork) true").status == 0 })
    func offline() async throws {
        let ran = try await bash(
            Self.home + """
                # Without SHELL the script's own bash asks nscd for it.
                mkdir run; export XDG_RUNTIME_DIR=$HOME/run SHELL=/bin/bash
                printf 'otpauth://totp/x:y?secret=GEZDGNBVGY3TQOJQ' > uri; head -n 1 recovery > code
                cat > verbs << 'END'
                \(Self.offlineVerbs)
                END
                strace -f -qq -o trace -e trace=connect,sendto,sendmsg unshare \(Self.noNetwork) bash -ex verbs > said 2> told ||
                    { cat told; exit 99; }
                grep 'connect(' trace | grep -v 'sun_path="/proc/self/fd/[0-9]*/agent.sock"' || true
                grep -E 'sendto|sendmsg' trace | grep 'sin_addr\\|sin6_addr' || true
                (($(grep -c 'connect(.*agent.sock' trace) > 20)) && echo 'the agent was asked'
                """)
        #expect(ran.output == "the agent was asked\n", "\(ran)")
    }
}
