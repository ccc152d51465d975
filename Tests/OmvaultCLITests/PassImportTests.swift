// Stores of the real pass, and changed stores. The forms of entries are in PassReaderTests.

import Foundation
import TestSupport
import Testing

@Suite("The import of a store of pass") struct PassImportTests {
    private static let isInstalled: Bool = {
        let isThere = ["pass", "gpg"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        if !isThere { print("skipped: no pass, or no gpg") }
        return isThere
    }()

    /// A vault, and a store whose key has no passphrase.
    private static let start = """
        set -e
        umask 077
        export GNUPGHOME=$HOME/g OMVAULT_PASSWORD_FROM=file:password
        mkdir g run; export XDG_RUNTIME_DIR=$HOME/run
        trap 'gpgconf --kill all' EXIT
        printf 'password\\n' > password
        omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
        key() { gpg --batch --quiet --pinentry-mode loopback --passphrase "$2" --quick-gen-key "$1" future-default default never 2> log; }
        key ada@example ''
        pass init ada@example > log
        insert() { pass insert --multiline --force "$1" > log; }
        S=$HOME/.password-store

        """

    @Test("each entry of pass has its password, its one-time password, and everything else that it holds")
    func real() async throws {
        guard Self.isInstalled else { return }
        let ran = try await bash(
            Self.start + """
                printf 'tulip\\nuser: ada\\nurl: https://x.example\\n\\nhello\\nyou: there\\n' | insert mail/work
                printf 'ro se\\n' | insert 'a b/ö:ü'
                pass generate bank 24 > log; pass generate --no-symbols deep/er/est/one 8 > log
                printf 'otpauth://totp/x?secret=MFRGG\\n' | insert code
                printf 'p\\notpauth://totp/x?secret=MFRGG\\n' | insert both
                head -c 3000000 /dev/urandom > long; insert long < long
                omvault import --dry-run "$S" 2> told; grep -q 'would import 7 items of pass' told; test -z "$(omvault ls)"
                omvault import --from pass 2> told; grep -q 'imported 7 items of pass' told
                for name in mail/work 'a b/ö:ü' bank deep/er/est/one both; do
                    test "$(pass show "$name" | head -n 1)" = "$(omvault get "\\"$name\\":password")"
                done
                test "$(omvault get mail/work:username) $(omvault get mail/work:url)" = 'ada https://x.example'
                test "$(omvault get mail/work:notes)" = "$(pass show mail/work | tail -n +2)"
                omvault get long:content | cmp - long
                test "$(omvault otp code)" = "$(oathtool --totp --base32 MFRGG)" || \
                    test "$(omvault otp code)" = "$(oathtool --totp --base32 MFRGG)"
                omvault import --from pass 2> told; grep -q 'imported 0 items of pass .*; 7 are there already' told
                omvault import --from pass "$S/deep" --into sub 2> told; test "$(omvault ls sub/)" = sub/er/est/one
                PASSWORD_STORE_DIR=$S/mail omvault -q import --from pass --into m; test "$(omvault ls m/)" = m/work
                omvault log ls > log; refused 1 grep -q tulip log told
                # What is hidden is an entry too, save for the files of pass and git.
                printf 'iris\\n' | insert .aws/prod; printf 'iris\\n' | insert web/.env; : > "$S/.gitignore"
                omvault import --from pass 2> told; grep -q 'imported 2 items of pass' told; refused 1 grep -q 'left out' told
                test "$(omvault get .aws/prod:password) $(omvault get web/.env:password)" = 'iris iris'
                # A file says its own name, and the user's options would write it there.
                printf 'lilac\\n' > evil.txt; gpg --batch -q -r ada@example -o "$S/x.gpg" -e evil.txt; rm evil.txt
                echo use-embedded-filename > g/gpg.conf
                omvault -q import --from pass; test "$(omvault get x:password)" = lilac; test ! -e evil.txt
                # A parent that ignores the end of its children.
                python3 -c 'import os, signal
                signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp("omvault", "omvault -q import --from pass --into i".split())'
                test "$(omvault get i/x:password)" = lilac
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("links, pipes and other files are left out and told; what no key opens, and what is cut, is an error after the rest")
    func changed() async throws {
        guard Self.isInstalled else { return }
        let ran = try await bash(
            Self.start + """
                printf 'tulip\\n' | insert one; printf 'rose\\n' | insert two; printf 'lily\\n' | insert cut
                mkdir outside; cp "$S/two.gpg" outside/three.gpg
                ln -s "$HOME/outside/three.gpg" "$S/link.gpg"; ln -s ../outside "$S/folder"; mkfifo "$S/pipe.gpg"
                printf x > "$S/README"; mkdir "$S/.git"; cp "$S/two.gpg" "$S/.git/four.gpg"
                printf x > "$S/$(printf 'bad\\xff').gpg"; cp "$S/two.gpg" "$S/$(printf 'a\\nb').gpg"
                head -c 150 "$S/cut.gpg" > short; cp short "$S/cut.gpg"
                refused 30 omvault import --from pass --report report.json; mv .refused told
                grep -q '1 of 4 files .*could not be opened' told; grep -q 'imported 3 items' told
                for word in 'link.gpg": a link to "'"$HOME/outside/three.gpg" 'folder": a link' 'pipe.gpg": neither' \\
                    'cut.gpg": it is damaged' 'not UTF-8' '1 file without .gpg'; do
                    grep -qF "$word" told
                done
                refused 1 grep -q -e tulip -e rose told report.json
                test "$(omvault ls | tr '\\n' ,)" = 'a b,one,two,'
                rm "$S/cut.gpg"
                # A changed byte: gpg writes the text, and says at the end that it is not whole.
                cp "$S/two.gpg" keep; python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[-5] ^= 1
                open(sys.argv[1], "wb").write(d)' "$S/two.gpg"
                refused 30 omvault import --from pass --into x; cp keep "$S/two.gpg"; test "$(omvault ls x/ | tr '\\n' ,)" = 'x/a b,x/one,'
                # A changed byte in the encrypted key of the file is no wrong passphrase.
                python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[60] ^= 1
                open(sys.argv[1], "wb").write(d)' "$S/two.gpg"
                refused 30 omvault import --from pass --into k; cp keep "$S/two.gpg"; test "$(omvault ls k/ | tr '\\n' ,)" = 'k/a b,k/one,'
                # A file with a password of its own asks for none.
                gpg --batch --pinentry-mode loopback --passphrase x -c -o "$S/own.gpg" keep
                refused 20 omvault import --from pass --into l; grep -q 'own.gpg": it has a password of its own' .refused
                rm "$S/own.gpg"; test "$(omvault ls l/ | wc -l)" = 3
                # More than a field can have.
                head -c 68000000 /dev/zero | gpg --batch -q -r ada@example -o "$S/big.gpg" -e
                refused 13 omvault import --from pass --into m; grep -q 'big.gpg": ' .refused
                rm "$S/big.gpg"; test "$(omvault ls m/ | wc -l)" = 3
                # Options without a use are told.
                refused 2 omvault import --from pass --password-from tty
                refused 2 omvault import --from pass --key-file none; refused 2 omvault import --from pass --with-trash
                # A team's entry.
                key bob@example ''; gpg --quiet --batch --trust-model always -r bob@example -e -o "$S/bob.gpg" keep
                fingerprint=$(gpg --list-keys --with-colons bob@example | grep -m 1 ^fpr | cut -d: -f10)
                gpg --batch --yes --delete-secret-keys "$fingerprint"
                refused 20 omvault import --from pass --into y; grep -q 'bob.gpg": none of your keys' .refused
                test "$(omvault ls y/ | wc -l)" = 3
                mkdir team; cp "$S/bob.gpg" team; refused 20 omvault import --from pass team
                grep -q 'nothing was imported' .refused
                refused 2 omvault import --from pass --delete-source; test -e "$S/one.gpg"
                refused 2 omvault import --from pass outside/three.gpg; refused 2 omvault import; refused 2 omvault import outside
                grep -qe '--from pass' .refused
                refused 2 omvault import --from pass g/openpgp-revocs.d; refused 10 omvault import --from pass none
                omvault -q import --from pass outside --into z; test "$(omvault get z/three:password)" = rose
                mkdir bin; for name in omvault omvault-full omvault-agent; do ln -s "$(command -v $name)" bin/$name; done
                PATH=$HOME/bin refused 4 omvault import --from pass
                # The vault is missed before gpg is.
                PATH=$HOME/bin refused 6 omvault import --vault none --from pass; PATH=$HOME/bin:/usr/bin:/bin
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("gpg-agent asks for the passphrase once; if the user cancels, or it is wrong, nothing is imported")
    func passphrase() async throws {
        guard Self.isInstalled else { return }
        let ran = try await bash(
            Self.start + """
                key eve@example violet; pass init eve@example > log
                printf 'tulip\\n' | insert one; printf 'rose\\n' | insert two; printf 'lily\\n' | insert three
                cat > pinentry <<END
                #!/bin/bash
                echo OK
                while read -r word more; do
                    case \\$word in
                        GETPIN)
                            echo asked >> $HOME/asked
                            if [[ -e $HOME/cancel ]]; then echo 'ERR 83886179 cancelled'; continue; fi
                            echo "D \\$(cat $HOME/pin)" ;;
                        BYE) echo OK; exit ;;
                    esac
                    echo OK
                done
                END
                chmod 700 pinentry; echo "pinentry-program $HOME/pinentry" > g/gpg-agent.conf; gpgconf --kill all
                : > cancel; refused 3 omvault import --from pass; test "$(wc -l < asked)" = 1; test -z "$(omvault ls)"
                rm cancel asked; gpgconf --kill all; echo wrong > pin
                refused 20 omvault import --from pass; test -z "$(omvault ls)"; grep -q 'cannot use your private key' .refused
                # gpg-agent asks three times for one file, and does not ask for the next files of the key.
                test "$(wc -l < asked)" = 3
                gpg --batch -q --trust-model always -r ada@example -o "$S/free.gpg" -e pin
                refused 20 omvault import --from pass --into f; test "$(omvault ls f/)" = f/free; rm "$S/free.gpg"
                rm asked; gpgconf --kill all; echo violet > pin
                omvault -q import --from pass; test "$(wc -l < asked)" = 1; test "$(omvault ls | wc -l)" = 4
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("a store of gopass or passage with files of age opens with age's keys, beside files of gpg")
    func age() async throws {
        guard Self.isInstalled else { return }
        let ran = try await bash(
            Self.start + """
                printf 'tulip\\n' | insert one
                age-keygen -o key 2> log; recipient=$(grep -o 'age1.*' key)
                printf 'rose\\nuser: ada\\n' | age -r "$recipient" -o "$S/web.age"
                printf 'lily\\n' | age -a -r "$recipient" -o "$S/armored.age"
                refused 2 omvault import --from pass; grep -q '2 files of the store are encrypted with age' .refused
                omvault -q import --from pass --key-file key
                test "$(omvault get one:password) $(omvault get web:password) $(omvault get armored:password)" = 'tulip rose lily'
                mkdir -p passage; cp "$S/web.age" passage; : > passage/.age-recipients
                omvault -q import passage --key-file key --into p;
                rm passage/.age-recipients; refused 2 omvault import passage --key-file key; grep -qe '--from pass' .refused
                omvault -q import --from pass passage --key-file key --into q; test "$(omvault get p/web:username)" = ada
                age-keygen -o other 2> log; refused 20 omvault import --from pass passage --key-file other
                head -c -3 "$S/web.age" > passage/web.age; refused 30 omvault import --from pass passage --key-file key
                """)
        #expect(ran.status == 0, "\(ran)")
    }
}
