// The vaults that a login has opened are locked when its credential is wiped or removed.

import Foundation
import TestSupport
import Testing

@Suite("The vaults that a login opened") struct WipedVaultTests {
    /// The runtime folder is in memory, for tickets. The vaults `personal` and `second` have the same login slot.
    ///
    /// - `guess` gives one wrong password and prints what becomes of it.
    /// - `state VAULT` prints whether the items of when-unlocked and after-first-unlock are readable.
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
            guessed() {
                local code=0
                omvault login "$@" --profile work --password-from file:wrong > said 2> told || code=$?
                case $code in 20) echo wrong ;; 22) echo locked-out ;; 23) echo wiped ;; *) echo "exit $code" ;; esac
            }
            guess() { guessed check ada --mode offline; }
            state() {
                local item value code words=()
                for item in item after; do
                    code=0; value=$(omvault -q -V "$1" get $item:f --no-input 2> /dev/null) || code=$?
                    case $code/$value in
                        0/secret | 0/later) words+=("$item is readable") ;;
                        8/) words+=("$item is locked") ;;
                        *) words+=("$item: exit $code, $value") ;;
                    esac
                done
                echo "$1: ${words[0]}, ${words[1]}"
            }
            tickets() { echo "tickets: $(ls "$XDG_RUNTIME_DIR/omvault" | grep -c '^omvault-ticket-')"; }
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
                tickets
                omvault -q -V personal lock; omvault -q -V second lock
                state personal
                state second
                """)
        #expect(
            ran.output == """
                wrong
                wrong
                personal: item is readable, after is readable
                wiped
                personal: item is locked, after is locked
                second: item is readable, after is readable
                tickets: 1
                personal: item is locked, after is locked
                second: item is locked, after is readable

                """, "\(ran.output)\(ran.errors)")
    }

    @Test("R4 a wipe removes the tickets of that login too, without an agent and with an agent that resumed from them")
    func tickets() async throws {
        let ran = try await bash(
            Self.start + """
                for way in gone resumed untouched; do
                    echo "the agent: $way"
                    by_login personal; by_password second
                    omvault -q lock --all
                    slay
                    test $way = gone || omvault -q agent start
                    test $way != resumed || state personal
                    guess; guess; guess
                    test $way != gone || omvault -q agent start
                    tickets
                    state personal
                    state second
                    omvault -q login rm ada --profile work --yes; enroll; slots
                done
                """)
        #expect(
            ran.output == """
                the agent: gone
                wrong
                wrong
                wiped
                tickets: 1
                personal: item is locked, after is locked
                second: item is locked, after is readable
                the agent: resumed
                personal: item is locked, after is readable
                wrong
                wrong
                wiped
                tickets: 1
                personal: item is locked, after is locked
                second: item is locked, after is readable
                the agent: untouched
                wrong
                wrong
                wiped
                tickets: 1
                personal: item is locked, after is locked
                second: item is locked, after is readable

                """, "\(ran.output)\(ran.errors)")
    }

    @Test("R4 an open vault belongs to the slot that unlocked it last, a login slot or another one")
    func lastUnlock() async throws {
        let ran = try await bash(
            Self.start + """
                by_login personal; by_password personal
                by_password second; by_login second
                guess; guess; guess
                state personal
                state second
                """)
        #expect(
            ran.output == """
                wrong
                wrong
                wiped
                personal: item is readable, after is readable
                second: item is locked, after is locked

                """, "\(ran.output)\(ran.errors)")
    }

    @Test("a lock-out locks no vault; a login that is removed, cleared or wiped locks the vaults that it opened")
    func others() async throws {
        let ran = try await bash(
            Self.start + """
                omvault -q profile set work OnAttemptsExceeded=lockout
                by_login personal
                guess; guess; guess
                printf "after the lock-out: "; state personal
                omvault -q login rm ada --profile work --yes
                printf "after login rm: "; state personal
                enroll; slots; by_login personal
                omvault -q logout ada --profile work
                printf "after logout: "; state personal
                omvault -q logout ada --profile work --clear
                printf "after logout --clear: "; state personal
                enroll; slots; by_login personal
                omvault -q profile set work OnAttemptsExceeded=wipe
                for i in 1 2 3; do
                    guessed passwd ada --new-password-from file:typed
                done
                printf "after the wipe: "; state personal
                """)
        #expect(
            ran.output == """
                wrong
                wrong
                locked-out
                after the lock-out: personal: item is readable, after is readable
                after login rm: personal: item is locked, after is locked
                after logout: personal: item is readable, after is readable
                after logout --clear: personal: item is locked, after is locked
                wrong
                wrong
                wiped
                after the wipe: personal: item is locked, after is locked

                """, "\(ran.output)\(ran.errors)")
    }
}
