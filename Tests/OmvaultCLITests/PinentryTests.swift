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
                            full) printf 'D %0998d\n' 0; echo OK ;;
                            long) head -c 2000 /dev/zero | tr '\0' x; echo; echo OK ;;
                            gone) exit 1 ;;
                        esac ;;
                        *) echo OK ;;
                    esac
                done
                END
                chmod +x fake; export OMVAULT_PINENTRY=$HOME/fake
                code() { echo $1 > mode; shift; refused "$@"; }
                omvault -q add x --field f=file:password
                code differ 3 omvault set x:f --value-from pinentry; grep -q 'entries differ' .refused
                for command in 'set x:f --value-from' 'get x:f --password-from'; do
                    code no 3 omvault $command pinentry
                    code broken 8 omvault $command pinentry; grep -q 'Inappropriate ioctl' .refused
                    code gone 8 omvault $command pinentry
                    code long 8 omvault $command pinentry
                    code no 8 omvault $command pinentry --no-input; code no 8 omvault $command pinentry:/nowhere
                done
                test "$(omvault get x:f)" = 'correct horse'
                echo quality > mode; omvault -q set x:f --value-from pinentry; test "$(omvault get x:f)" = CAN
                # The longest line has 1000 bytes and a newline.
                echo full > mode; omvault -q set x:f --value-from pinentry; test "$(omvault get x:f | wc -c)" = 998
                # Each source works in each command.
                echo encoded > mode; printf 'a%%b\nc' > wanted; omvault -q set x:f --value-from pinentry:./fake
                omvault -q get x:f | cmp - wanted
                echo hello | omvault crypto hmac --alg sha256 --key-from pinentry > one; echo hello | omvault crypto hmac --alg sha256 --key-from file:wanted > two
                cmp one two
                : > heard; DISPLAY=:7 LC_ALL=C.UTF-8 TERM=vt100 refused 15 omvault -q set x:f --value-from pinentry
                grep -qx 'OPTION display=:7' heard; grep -qx 'OPTION lc-ctype=C.UTF-8' heard; grep -qx 'OPTION ttytype=vt100' heard
                test "$(pgrep -cf "$HOME/fake")" = 0
                """#
        let ran = try await bash(script)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("each signal ends a pinentry that says nothing, also if it keeps signals from ending it")
    func signals() async throws {
        let ran = try await bash(
            Self.start + #"""
                cat > silent << 'END'
                #!/bin/bash
                if test -e deaf; then trap '' TERM; fi
                if test -e greets; then echo OK; fi
                echo $$ > started
                # Nothing is written there.
                read -r line < never
                END
                chmod +x silent; mkfifo started never
                ended() {
                    env --default-signal=INT omvault ls --password-from pinentry:./silent 2> log & omvault=$!
                    read -r pinentry < started
                    kill -$1 $omvault; code=0; wait $omvault || code=$?; test $code = $2
                    if kill -0 $pinentry 2> log; then exit 1; fi
                }
                ended INT 130; ended HUP 129; touch greets; ended TERM 143; touch deaf; ended TERM 143
                """#)
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
                # Empty lines and comments have no answer.
                test "$(printf '%s\n' '' '# x' NOP BYE | omvault helper pinentry --fallback none | wc -l)" = 3
                test "$(printf '%s\n' GETPIN '' '# x' NOP BYE | omvault helper pinentry --fallback "$HOME/fake" | wc -l)" = 5
                : > heard; say 'SETDESC a%0Ab%25c' 'OPTION ttyname=/dev/pts/9' CONFIRM BYE || true
                printf '%s\n' 'SETDESC a%0Ab%25c' 'OPTION ttyname=/dev/pts/9' CONFIRM BYE | diff - heard
                # Without another pinentry each of them is refused.
                printf '%s\n' "SETKEYINFO t/$grip" GETPIN CONFIRM BYE | omvault helper pinentry --fallback none > said
                test "$(grep -c '^ERR 83886179 ' said)" = 2
                printf '%s\n' GETPIN BYE | omvault helper pinentry --fallback /nowhere | grep -q '^ERR 83886179 '
                # The fallback is the helper again.
                printf '#!/bin/sh\nexec omvault helper pinentry\n' > again; chmod +x again
                printf '%s\n' GETPIN BYE | OMVAULT_PINENTRY=$HOME/again omvault helper pinentry | grep -q '^ERR 83886179 '
                # The named item is for keys without an item, and never for a file or a card.
                printf named > p; omvault -q add other --type login --field password=file:p
                export OMVAULT_PINENTRY_ITEM=other
                test "$(say "SETKEYINFO n/${grip/0/F}" GETPIN BYE)" = 'D named'
                test "$(say "SETKEYINFO n/$grip" GETPIN BYE)" = 'D pass%25phrase'
                test "$(say "SETKEYINFO u/S0123" GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO n/$grip" 'SETERROR x' GETPIN BYE)" = "$person"
                test "$(say "SETKEYINFO t/$grip" GETPIN BYE)" = "$person"; test "$(say "SETKEYINFO --clear" GETPIN BYE)" = "$person"
                unset OMVAULT_PINENTRY_ITEM
                omvault lock; test "$(say "SETKEYINFO n/$grip" GETPIN BYE)" = "$person"
                """#)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("a pinentry that asks a person ends with the helper: at a signal, and when the other end has gone")
    func ends() async throws {
        let ran = try await bash(
            Self.start + #"""
                cat > slow << 'END'
                #!/bin/bash
                echo OK
                while read -r line; do
                    case $line in
                        GETPIN) echo $$ > "$HOME/asks"; exec cat "$HOME/never" ;;
                        *) echo OK ;;
                    esac
                done
                END
                chmod +x slow; mkfifo in asks never
                begin() {
                    omvault helper pinentry --fallback "$HOME/slow" < in > out & helper=$!
                    exec 9> in; echo GETPIN >&9
                    read -r pinentry < asks
                }
                gone() { code=0; wait $helper || code=$?; test $code = $1; if kill -0 $pinentry 2> log; then exit 1; fi; }
                begin; kill -TERM $helper; gone 143; exec 9>&-
                begin; exec 9>&-; gone 0
                """#)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("the real pinentry-tty is the fallback, and asks at the terminal that gpg-agent names")
    func real() async throws {
        // Without a vault: what gpg-agent asks for is no key.
        let script = #"""
            set -e
            printf '%s\n' "OPTION ttyname=$(tty)" 'OPTION ttytype=xterm' "SETKEYINFO u/S0123" 'SETDESC The word of a file' \
                'SETPROMPT Word:' 'SETQUALITYBAR Quality:' GETPIN BYE | omvault helper pinentry --fallback pinentry-tty > out
            grep -qx 'D tu%25lip' out; test "$(tail -n 1 out | cut -c 1-2)" = OK
            """#
        let ran = try await atTerminal(script, [("The word of a file", "tu%lip\r")])
        #expect(ran.status == 0, "\(ran.output)")
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
                # The named item is for no file: neither for a new passphrase, which gpg-agent asks for twice, nor for an old one.
                export OMVAULT_PINENTRY_ITEM=gpg; gpgconf --kill gpg-agent
                gpg -q --no-tty -o c.gpg -c text 2> log; test "$(grep -c '^GETPIN' heard)" = 2
                gpgconf --kill gpg-agent; test "$(gpg -q --no-tty -d c.gpg 2> log)" = hello; test "$(grep -c '^GETPIN' heard)" = 3
                unset OMVAULT_PINENTRY_ITEM; rm heard
                # Now the vault has a wrong one.
                printf wrong > p; omvault -q set gpg:password --value-from file:p
                gpgconf --kill gpg-agent; rm text.gpg
                refused 2 gpg --batch -u ada --sign text; test ! -e text.gpg
                test "$(grep -c '^GETPIN' heard)" = 2; grep -q '^SETERROR Bad Passphrase' heard
                """#)
        #expect(ran.status == 0, "\(ran)")
    }
}
