// What a login opened goes with its credential, against the real programs.

import Foundation
import TestSupport
import Testing

@Suite("What a login opened") struct WipedVaultTests {
    /// In memory, for tickets: a vault that its login slot opened, and one with the same login slot that its password
    /// opened. `guess` is one wrong password, `state VAULT` what can be had of both items.
    private static let start =
        AgentTests.start.replacingOccurrences(
            of: "export XDG_RUNTIME_DIR=$HOME/run\nmkdir",
            with: """
                export XDG_RUNTIME_DIR=$(mktemp -u -d /dev/shm/omvault-test-XXXXXX)
                mkdir
                """) + """
            trap 'omvault -q agent stop 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
            omvault -q -V second init --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
            omvault -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=2 OnAttemptsExceeded=wipe
            printf secret > typed; printf wrong > wrong
            enroll() { omvault -q login enroll ada --profile work --password-from file:typed --kdf-mem 8 --kdf-time 1; }
            enroll
            for vault in personal second; do
                omvault -q -V $vault policy set afu-ticket on --password-from file:password
                printf later | omvault -q -V $vault add after --field f=stdin --level after-first-unlock \\
                    --password-from file:password
            done
            printf secret | omvault -q -V second add item --field f=stdin --password-from file:password
            slots() {
                for vault in personal second; do
                    omvault -q -V $vault key add-slot --type login ada --login-password-from file:typed \\
                        --password-from file:password
                done
            }
            by_login() { omvault -q -V "$1" unlock --keyslot 2 --password-from file:typed; }
            by_password() { omvault -q -V "$1" unlock --password-from file:password; }
            guess() { code omvault login check ada --profile work --mode offline --password-from file:wrong; }
            state() {
                for path in item:f after:f; do
                    omvault -q -V "$1" get $path --no-input 2>/dev/null || printf %s $?
                    printf ' '
                done
                echo
            }
            slots

            """

    @Test("R4 a wipe locks and forgets the vault that the login opened, and none that another slot opened")
    func wiped() async throws {
        let ran = try await bash(
            Self.start + """
                by_login personal; by_password second
                guess; guess
                state personal
                guess; cat told >&2
                state personal
                state second
                ls "$XDG_RUNTIME_DIR/omvault" | grep -c '^omvault-ticket-'
                omvault -q -V personal lock; omvault -q -V second lock
                state personal
                state second
                """)
        #expect(
            ran.output == """
                20
                20
                secret later\u{20}
                23
                8 8\u{20}
                secret later\u{20}
                1
                8 8\u{20}
                8 later\u{20}

                """, "\(ran.output)\(ran.errors)")
    }

    @Test("R4 a wipe takes the tickets of that login too: with no agent, and with one that resumed from them")
    func tickets() async throws {
        let ran = try await bash(
            Self.start + """
                for way in gone resumed untouched; do
                    by_login personal; by_password second
                    omvault -q lock --all
                    slay
                    test $way = gone || omvault -q agent start
                    test $way != resumed || state personal
                    guess; guess; guess
                    test $way != gone || omvault -q agent start
                    ls "$XDG_RUNTIME_DIR/omvault" | grep -c '^omvault-ticket-'
                    state personal
                    state second
                    omvault -q login rm ada --profile work --yes; enroll; slots
                done
                """)
        let after = "20\n20\n23\n1\n8 8 \n8 later \n"
        #expect(ran.output == after + "8 later \n" + after + after, "\(ran.output)\(ran.errors)")
    }

    @Test("R4 the last unlock says whose an open vault is: another slot takes it over, and the login takes it back")
    func lastUnlock() async throws {
        let ran = try await bash(
            Self.start + """
                by_login personal; by_password personal
                by_password second; by_login second
                guess; guess; guess
                state personal
                state second
                """)
        #expect(ran.output == "20\n20\n23\nsecret later \n8 8 \n", "\(ran.output)\(ran.errors)")
    }

    @Test("a lock-out deletes nothing and locks nothing; a removed login and one logged out for good take what they opened")
    func others() async throws {
        let ran = try await bash(
            Self.start + """
                omvault -q profile set work OnAttemptsExceeded=lockout
                by_login personal
                guess; guess; guess
                state personal
                omvault -q login rm ada --profile work --yes
                state personal
                enroll; slots; by_login personal
                omvault -q logout ada --profile work
                state personal
                omvault -q logout ada --profile work --clear
                state personal
                enroll; slots; by_login personal
                omvault -q profile set work OnAttemptsExceeded=wipe
                for i in 1 2 3; do
                    code omvault login passwd ada --profile work --password-from file:wrong --new-password-from file:typed
                done
                state personal
                """)
        #expect(
            ran.output == """
                20
                20
                22
                secret later\u{20}
                8 8\u{20}
                secret later\u{20}
                8 8\u{20}
                20
                20
                23
                8 8\u{20}

                """, "\(ran.output)\(ran.errors)")
    }
}
