// The ways to open a vault, as a user types them.

import Foundation
import TestSupport
import Testing

@Suite struct KeyCommandTests {
    private static let vault = """
        set -e
        printf password > password; printf wrong > wrong; printf value > value
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 > code
        export OMVAULT_PASSWORD_FROM=file:password
        omvault -q add item --field x=file:value

        """

    private static let login = """
        omvault -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=2 OnAttemptsExceeded=wipe
        printf secret > typed; printf other > other
        omvault -q login enroll ada --profile work --password-from file:typed --kdf-mem 8 --kdf-time 1

        """

    /// The number of failed attempts as it stands in the vault's counter.
    private static let failed = """
        failed() { python3 - "$HOME"/.local/state/omvault-device/password-*.mark <<'END'
        import sys
        b = open(sys.argv[1], "rb").read()
        one = max((b[i:i + 512] for i in (0, 512)), key=lambda s: s[24:32])
        print(int.from_bytes(one[40:48], "big"), int.from_bytes(one[32:40], "big"))
        END
        }

        """

    @Test("a key file that add-slot made opens the vault for every verb, and one of another vault does not")
    func keyFile() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault key add-slot --type file --out stick.key
                stat -c %a stick.key
                unset OMVAULT_PASSWORD_FROM
                omvault get item:x --key-file-from file:stick.key; echo
                omvault ls --key-file-from file:stick.key
                omvault key slots --key-file-from file:stick.key --format plain | cut -f 1,2
                printf 'omvault-key-1-%064d-00000000\\n' 0 > bad.key
                omvault ls --key-file-from file:bad.key || echo "malformed $?"
                omvault -q -V other init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
                omvault -V other key add-slot --type file --out other.key --password-from file:password
                omvault ls --key-file-from file:other.key || echo "wrong $?"
                omvault key add-slot --type file --out stick.key --password-from file:password || echo "exists $?"
                omvault -V other key add-slot --type file --key-from file:stick.key --password-from file:password
                omvault -V other ls --key-file-from file:stick.key; echo "both $?"
                """)
        #expect(
            ran.output == """
                600
                value
                item
                1\tpassword
                2\trecovery
                3\tfile
                malformed 20
                wrong 20
                exists 5
                both 0

                """, "\(ran.errors)")
    }

    @Test("R60 a login opens the vault until it is enrolled again; then its slot is stale, says so, and is made anew")
    func login() async throws {
        let ran = try await bash(
            Self.vault + Self.login + """
                omvault key add-slot --type login ada --login-password-from file:typed
                omvault get item:x --keyslot 3 --password-from file:typed; echo
                omvault key slots --format plain | cut -f 2,5,6 | tail -1
                omvault get item:x --keyslot 3 --password-from file:wrong || echo "wrong $?"
                omvault -q login enroll ada --profile work --password-from file:other --old-password-from file:typed \\
                    --kdf-mem 8 --kdf-time 1
                omvault get item:x --keyslot 3 --password-from file:other 2> said || echo "stale $?"
                grep -c 'earlier enrolment' said
                omvault key add-slot --type login ada --login-password-from file:other
                omvault get item:x --keyslot 3 --password-from file:other; echo
                for i in 1 2 3; do omvault get item:x --keyslot 3 --password-from file:wrong 2>/dev/null || echo "$?"; done
                omvault get item:x --keyslot 3 --password-from file:other || echo "wiped $?"
                omvault key slots --format plain | cut -f 2,5,6 | tail -1
                omvault get item:x; echo
                """)
        #expect(
            ran.output == """
                value
                login\tok\tada (work)
                wrong 20
                stale 24
                1
                value
                20
                20
                23
                wiped 23
                login\tstale\tada (work)
                value

                """, "\(ran.errors)")
    }

    @Test("R60 an expired login opens no vault and loses none: the password does, and the login again once it may be older")
    func expiredLogin() async throws {
        let ran = try await bash(
            Self.vault + Self.login + """
                omvault key add-slot --type login ada --login-password-from file:typed
                omvault -q profile set work OfflineCredentialMaxAge=1
                expired() { omvault login status ada --profile work --json | grep -q '"expired"'; }; eventually expired
                omvault get item:x --keyslot 3 --password-from file:typed || echo "expired $?"
                omvault ls; omvault get item:x --keyslot 1; echo
                omvault -q profile set work OfflineCredentialMaxAge=1000000
                omvault get item:x --keyslot 3 --password-from file:typed; echo
                omvault key slots --format plain | cut -f 2,5,6 | tail -1
                """)
        #expect(ran.output == "expired 24\nitem\nvalue\nvalue\nlogin\tok\tada (work)\n", "\(ran.errors)")
    }

    @Test("R60 the last password or recovery slot beside a login slot stays, and so does the last slot")
    func rules() async throws {
        let ran = try await bash(
            Self.vault + Self.login + """
                omvault key add-slot --type login ada --login-password-from file:typed
                omvault key rm-slot 2 --yes
                omvault key rm-slot 1 --yes || echo "alone $?"
                omvault key rm-slot 3 --yes
                omvault key rm-slot 1 --yes || echo "last $?"
                omvault key rm-slot 7 --yes || echo "none $?"
                omvault key rm-slot 1 --no-input || echo "last, before the question $?"
                omvault get item:x --recovery-from file:code || echo "gone $?"
                omvault get item:x
                """)
        #expect(
            ran.output == "alone 13\nlast 13\nnone 10\nlast, before the question 13\ngone 20\nvalue", "\(ran.errors)")
    }

    @Test("a changed password counts from then on, with the recovery code too, and two passwords open each their slot")
    func passwords() async throws {
        let ran = try await bash(
            Self.vault + """
                printf new > new; printf second > second
                omvault key passwd --new-password-from file:new
                omvault ls --password-from file:new; omvault ls --recovery-from file:code
                omvault key passwd 1 --recovery-from file:code --new-password-from file:password
                omvault key add-slot --type password --new-password-from file:second
                omvault get item:x --keyslot 3 --password-from file:second; echo
                omvault key passwd 2 --new-password-from file:new || echo "no password $?"
                omvault get item:x --keyslot 2 --password-from file:code; echo
                omvault get item:x --keyslot 2 --key-file-from file:code || echo "another kind $?"
                omvault ls --keyslot 9 || echo "no slot $?"
                """)
        #expect(
            ran.output == "item\nitem\nvalue\nno password 2\nvalue\nanother kind 2\nno slot 10\n", "\(ran.errors)")
    }

    @Test("a new recovery code is typed back at a terminal, and a wrong one changes nothing")
    func recoveryCode() async throws {
        let made = try await bash(
            Self.vault + """
                omvault -q key add-slot --type recovery > second
                omvault get item:x --keyslot 3 --recovery-from file:second; echo
                omvault key add-slot --type recovery --code-from file:code > third || echo "another code $?"
                omvault get item:x --keyslot 4 || echo "$?"
                """)
        #expect(made.output == "value\nanother code 3\n10\n", "\(made.errors)")
        let ran = try await atTerminal(
            """
            printf password > password
            omvault init --password-from file:password --kdf-mem 8 --kdf-time 1; echo "said $?"
            omvault ls --password-from file:password; echo "made $?"
            """, [("Recovery code, from what you wrote down", "0000-0000\n")])
        #expect(ran.output.contains("said 3") && ran.output.contains("made 6"), "\(ran.output)")
    }

    // MARK: - Wrong passwords

    @Test("a wrong password delays the next, says for how long, and not who has the recovery code")
    func delay() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault get item:x --password-from file:wrong || echo "wrong $?"
                omvault get item:x --json 2> said || echo "delayed $?"
                grep -o '"retry_after":1' said
                omvault get item:x --recovery-from file:code; echo
                """)
        #expect(ran.output == "wrong 20\ndelayed 21\n\"retry_after\":1\nvalue\n", "\(ran.errors)")
    }

    @Test("of fifty processes with the right password at once all are let in")
    func rightAtOnce() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                for i in $(seq 50); do
                    # On a busy machine an unlock may warn that its log entry came too late.
                    { omvault get item:x > "answer.$i" 2> "errors.$i" || { echo " $?"; cat "errors.$i"; } >> "answer.$i"; echo >> "answer.$i"; } &
                done
                wait
                cat answer.* | sort | uniq -c | tr -s ' '
                failed
                """)
        #expect(ran.output == " 50 value\n0 51\n", "\(ran.errors)")
    }

    @Test("of forty processes guessing at once each is charged before it is checked, or told to wait")
    func wrongAtOnce() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                set +e
                for i in $(seq 40); do
                    { omvault get item:x --password-from file:wrong 2> /dev/null; echo "$?" > "answer.$i"; } &
                done
                wait
                grep -lx 20 answer.* | wc -l
                grep -lx 21 answer.* | wc -l
                failed
                """)
        let numbers = ran.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 4, "\(ran.output) \(ran.errors)")
        // One at once, and one more for each delay that passed meanwhile: 1, 2, 4 … seconds.
        #expect((1...5).contains(numbers[0]) && numbers[0] + numbers[1] == 40, "\(numbers)")
        #expect(numbers[2] == numbers[0] && numbers[3] == numbers[0] + 1, "\(numbers)")
    }

    // MARK: - Policy

    @Test("a policy is shown without a password, changed with one, and new slots and items follow it")
    func policy() async throws {
        let ran = try await bash(
            Self.vault + """
                OMVAULT_PASSWORD_FROM= omvault policy show --format plain --no-input
                omvault policy set --default --level when-unlocked --device-only
                omvault policy set afu-ticket on
                omvault policy set history 3
                omvault policy set stretch --kdf-mem 9
                omvault policy show --json
                omvault key slots --format plain | cut -f 1,4,5
                omvault add later --field x=file:value
                omvault policy show later --format plain
                omvault policy explain later | tail -1 | cut -c 1-29
                omvault policy set history 1001 || echo "$?"
                omvault policy set history 3 || echo "$?"
                omvault policy set nonsense 3 || echo "$?"
                """)
        #expect(
            ran.output == """
                default\twhen-unlocked
                afu-ticket\toff
                history\t10
                stretch\t8 MiB, 1 passes
                {"schema":"omvault/1","default_level":"when-unlocked","default_device_only":true,"afu_ticket":true,\
                "history":3,"kdf_mem":9,"kdf_time":1}
                1\t9 MiB, 1 passes\tok
                2\t8 MiB, 1 passes\tbelow policy
                level\twhen-unlocked, device only
                It is bound to this device: n
                2
                15
                2

                """, "\(ran.errors)")
        #expect(ran.errors.components(separatedBy: "it now uses 9 MiB and 1 passes. The password is the same").count == 2)
    }

    @Test("policy explain believes no header that this device has not noted: it asks, and the seal judges it")
    func explainUnproven() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q policy set history 3
                mkdir other; cp .local/share/omvault/personal.omv other/a.omv; C=$PWD/code; export HOME=$PWD/other
                sqlite3 other/a.omv "UPDATE header SET body = CAST(substr(body, 1, 38) || x'01' || substr(body, 40) AS BLOB)"
                omvault -V other/a.omv policy explain item --recovery-from file:$C || echo "exit $?"
                sqlite3 other/a.omv "UPDATE header SET body = CAST(substr(body, 1, 38) || x'00' || substr(body, 40) AS BLOB)"
                omvault -V other/a.omv policy explain item --recovery-from file:$C | head -n 1
                """)
        #expect(ran.output == "exit 30\nitem: when-unlocked\n", "\(ran)")
    }

    @Test("a key file whose slot could not be made is taken away, and one that was there before is not")
    func orphan() async throws {
        let ran = try await bash(
            Self.vault + """
                strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=1+ \\
                    omvault -q key add-slot --type file --out stick.key --recovery-from file:code 2> said || echo "exit $?"
                ls stick.key 2> /dev/null || echo gone
                omvault key slots | wc -l
                printf mine > there.key
                refused 5 omvault -q key add-slot --type file --out there.key
                cat there.key; echo
                omvault -q key add-slot --type file --out stick.key
                omvault get item:x --key-file-from file:stick.key; echo
                """)
        #expect(ran.output == "exit 60\ngone\n2\nmine\nvalue\n", "\(ran)")
    }

    @Test("a slot that somebody changed, with a raised generation, is 30 before a password is read, and nothing is charged")
    func changedSlot() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                failed
                sqlite3 .local/share/omvault/personal.omv \\
                    "UPDATE slots SET body = CAST(substr(body, 1, 18) || zeroblob(16) || substr(body, 35) AS BLOB) WHERE id = 1; \\
                    UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000063' || substr(body, 34) AS BLOB)"
                refused 30 omvault get item:x --password-from cmd:'touch asked'
                test ! -e asked && failed
                """)
        #expect(ran.output == "0 1\n0 1\n", "\(ran)")
    }

    // MARK: - Rekey

    @Test("a recovery code that cannot be printed leaves the old one as it was")
    func rekeyWithoutOutput() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q key rekey --yes > /dev/full || echo "full $?"
                omvault get item:x --recovery-from file:code; echo
                """)
        #expect(ran.output.hasPrefix("full 60\n"), "\(ran.output)\(ran.errors)")
        #expect(ran.status == 0 && ran.output.split(separator: "\n").count == 2)
    }

    @Test("a rekey keeps what was given, replaces the recovery code, and asks before the others go")
    func rekey() async throws {
        let ran = try await bash(
            Self.vault + Self.login + """
                omvault key add-slot --type file --out a.key; omvault key add-slot --type file --out b.key
                omvault key add-slot --type login ada --login-password-from file:typed
                omvault key rekey --no-input 2>said || echo "asks $?"
                omvault key rekey --yes --also-from 3=file:b.key 2>/dev/null || echo "another's $?"
                omvault -q key rekey --yes --also-from 3=file:a.key --also-from 5=file:typed > new
                omvault key slots --format plain | cut -f 1,2
                omvault get item:x; echo
                omvault get item:x --key-file-from file:a.key; echo
                omvault get item:x --keyslot 5 --password-from file:typed; echo
                omvault get item:x --recovery-from file:new; echo
                omvault get item:x --recovery-from file:code || echo "old code $?"
                omvault get item:x --key-file-from file:b.key || echo "gone $?"
                """)
        #expect(
            ran.output == """
                asks 8
                another's 20
                1\tpassword
                2\trecovery
                3\tfile
                5\tlogin
                value
                value
                value
                value
                old code 20
                gone 20

                """, "\(ran.errors)")
    }
}
