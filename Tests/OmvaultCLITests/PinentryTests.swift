// `pinentry` as a source, with the real programs at a terminal, and as a helper of the real gpg-agent.

import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import omvault_full

@Suite("A pinentry asks for a secret") struct PinentrySourceTests {
    private static let start = """
        set -e
        umask 077; printf 'correct horse' > password; export OMVAULT_PASSWORD_FROM=file:password
        omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1

        """

    @Test("the real programs ask at the terminal, twice for a new secret", arguments: ["pinentry-tty", "pinentry-curses"])
    func programs(_ program: String) async throws {
        let script =
            Self.start + """
                export TERM=xterm OMVAULT_PINENTRY=\(program)
                omvault -q add site --field token=pinentry; echo "= $?"
                omvault -q get site:token --password-from pinentry:\(program) > value; echo "= $?"
                test "$(cat value)" = 'tu%25&lip'; stty -a | grep -o ' echo '
                """
        let ran = try await atTerminal(
            script,
            [
                ("token of \"site\"", "tu%25&lip\r"), ("again", "tu%25&lip\r"),
                ("Password for vault", "correct horse\r"),
            ])
        #expect(ran.output.components(separatedBy: "= 0").count == 3, "\(ran.output)")
        #expect(ran.status == 0 && !ran.output.contains("tu%25"), "\(ran.output)")
    }

    @Test("two entries that differ, a no, and a program that is not there or cannot ask change nothing")
    func refused() async throws {
        let script =
            Self.start + #"""
                cat > fake << 'END'
                #!/bin/bash
                echo 'OK hello'; n=0
                while read -r line; do
                    echo "$line" >> heard
                    case $line in
                        GETPIN) n=$((n + 1)); case $(cat mode) in
                            differ) echo "D pin$n"; echo OK ;;
                            encoded) echo 'D a%25b'; echo 'D %0Ac'; echo OK ;;
                            no) echo 'ERR 83886179 Operation cancelled <Pinentry>' ;;
                            broken) echo 'ERR 83918950 Inappropriate ioctl for device <Pinentry>' ;;
                            quality) echo 'INQUIRE QUALITY abc'; read -r answer; echo "D $answer"; echo OK ;;
                            long) head -c 2000 /dev/zero | tr '\0' x; echo; echo OK ;;
                            gone) exit 1 ;;
                        esac ;;
                        *) echo OK ;;
                    esac
                done
                END
                chmod +x fake; export OMVAULT_PINENTRY=$HOME/fake
                code() { echo $1 > mode; shift; refused "$@"; }
                for option in --value-from; do
                    omvault -q add x --field f=file:password
                    code differ 3 omvault set x:f $option pinentry; grep -q 'entries differ' .refused
                    code no 3 omvault set x:f $option pinentry
                    code broken 8 omvault set x:f $option pinentry; grep -q 'Inappropriate ioctl' .refused
                    code gone 8 omvault set x:f $option pinentry
                    code long 8 omvault set x:f $option pinentry
                    code no 8 omvault set x:f $option pinentry --no-input; code no 8 omvault set x:f $option pinentry:/nowhere
                done
                test "$(omvault get x:f)" = 'correct horse'
                echo quality > mode; omvault -q set x:f --value-from pinentry; test "$(omvault get x:f)" = CAN
                # Each source works in each command.
                echo encoded > mode; printf 'a%%b\nc' > wanted; omvault -q set x:f --value-from pinentry:./fake
                omvault -q get x:f | cmp - wanted
                echo hello | omvault crypto hmac --alg sha256 --key-from pinentry > one; echo hello | omvault crypto hmac --alg sha256 --key-from file:wanted > two
                cmp one two
                : > heard; DISPLAY=:7 LC_ALL=C.UTF-8 TERM=vt100 omvault -q set x:f --value-from pinentry || test $? = 15
                grep -qx 'OPTION display=:7' heard; grep -qx 'OPTION lc-ctype=C.UTF-8' heard; grep -qx 'OPTION ttytype=vt100' heard
                test "$(pgrep -cf "$HOME/fake")" = 0
                """#
        let ran = try await bash(script)
        #expect(ran.status == 0, "\(ran)")
    }
}

@Suite("The helper pinentry") struct PinentryHelperTests {
    /// A vault that is open in the agent, and `fake`: a pinentry for the other questions, which writes what it hears.
    private static let start =
        AgentTests.start + #"""
            unlock; omvault -q rm item
            cat > fake << 'END'
            #!/bin/bash
            echo 'OK hello'
            while read -r line; do
                echo "$line" >> "$HOME/heard"
                case $line in
                    GETPIN) echo 'D from%20person'; echo OK ;;
                    BYE) echo OK; exit ;;
                    *) echo OK ;;
                esac
            done
            END
            chmod +x fake
            grip=0123456789ABCDEF0123456789ABCDEF01234567
            printf 'pass%%phrase' > p; omvault -q add key --type login --plain url=gpg:$grip --field password=file:p
            say() { printf '%s\n' "$@" | omvault helper pinentry --fallback "$HOME/fake" | grep -v '^OK'; }

            """#

    @Test("a key's passphrase comes from the vault, once; what is new, wrong, of a card or unknown is for a person")
    func questions() async throws {
        let ran = try await bash(
            Self.start + #"""
                test "$(say "SETKEYINFO n/$grip" GETPIN BYE)" = 'D pass%25phrase'
                test "$(say "SETKEYINFO s/${grip,,}" GETPIN BYE)" = 'D pass%25phrase'
                test ! -e heard
                person='D from%20person'
                test "$(say "SETKEYINFO n/$grip" GETPIN GETPIN BYE)" = $'D pass%25phrase\n'"$person"
                test "$(say "SETKEYINFO n/$grip" GETPIN 'SETERROR Bad Passphrase (try 2 of 3)' GETPIN BYE)" = $'D pass%25phrase\n'"$person"
                grep -qx 'SETERROR Bad Passphrase (try 2 of 3)' heard
                test "$(say "SETKEYINFO n/$grip" 'SETERROR Bad' GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO n/$grip" 'SETREPEAT Again' GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO t/$grip" GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO --clear" GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO n/${grip/0/F}" GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO n/${grip}0" GETPIN BYE)" = "$person"
                test "$(say GETPIN BYE)" = "$person"
                : > heard; say 'SETDESC a%0Ab%25c' 'OPTION ttyname=/dev/pts/9' CONFIRM BYE || true
                printf '%s\n' 'SETDESC a%0Ab%25c' 'OPTION ttyname=/dev/pts/9' CONFIRM BYE | diff - heard
                # Without another pinentry each of them is refused.
                printf '%s\n' "SETKEYINFO t/$grip" GETPIN CONFIRM BYE | omvault helper pinentry --fallback none > said
                test "$(grep -c '^ERR 83886179 ' said)" = 2
                printf '%s\n' GETPIN BYE | omvault helper pinentry --fallback /nowhere | grep -q '^ERR 83886179 '
                # The fallback is the helper again.
                printf '#!/bin/sh\nexec omvault helper pinentry\n' > again; chmod +x again
                printf '%s\n' GETPIN BYE | OMVAULT_PINENTRY=$HOME/again omvault helper pinentry | grep -q '^ERR 83886179 '
                # The named item is for passphrases, and never for a card.
                printf named > p; omvault -q add other --type login --field password=file:p
                export OMVAULT_PINENTRY_ITEM=other
                test "$(say "SETKEYINFO u/S0123" GETPIN BYE)" = 'D named'
                test "$(say "SETKEYINFO n/$grip" 'SETERROR x' GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO t/$grip" GETPIN BYE)" = "$person"; test "$(say "SETKEYINFO --clear" GETPIN BYE)" = "$person"
                unset OMVAULT_PINENTRY_ITEM
                omvault lock; test "$(say "SETKEYINFO n/$grip" GETPIN BYE)" = "$person"
                """#)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("gpg signs with the passphrase from the vault; a wrong one there is given once, and then a person is asked")
    func gpg() async throws {
        let ran = try await bash(
            Self.start + #"""
                # The path of gpg-agent's socket has to be short.
                export GNUPGHOME=$(mktemp -d /tmp/gXXXXXX)
                trap 'omvault -q agent stop 2> /dev/null || true; gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT
                printf '#!/bin/sh\nexec omvault helper pinentry --fallback "%s" -- "$@"\n' "$HOME/fake" > wrapper; chmod +x wrapper
                echo "pinentry-program $HOME/wrapper" > "$GNUPGHOME/gpg-agent.conf"
                echo allow-loopback-pinentry >> "$GNUPGHOME/gpg-agent.conf"
                gpg -q --batch --pinentry-mode loopback --passphrase 'purple rain' --quick-gen-key ada ed25519 sign never 2> log
                real=$(gpg --with-keygrip -K ada 2> log | awk '/Keygrip/ { print $3; exit }')
                printf 'purple rain' > p; omvault -q add gpg --type login --plain url=gpg:$real --field password=file:p
                gpgconf --kill gpg-agent
                echo hello > text; gpg -q --batch -u ada --sign text 2> log; gpg -q --verify text.gpg 2> log; test ! -e heard
                # Now the vault has a wrong one.
                printf wrong > p; omvault -q set gpg:password --value-from file:p
                gpgconf --kill gpg-agent; rm text.gpg
                refused 2 gpg --batch -u ada --sign text; test ! -e text.gpg
                test "$(grep -c '^GETPIN' heard)" = 2; grep -q '^SETERROR Bad Passphrase' heard
                """#)
        #expect(ran.status == 0, "\(ran)")
    }
}
