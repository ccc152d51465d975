import TestSupport
import Testing

/// `omvault cert` with files of OpenSSL and keytool, and with files that are made to harm.
@Suite struct CertCommandTests {
    /// A vault, an authority and the functions `leaf NAME [EXTENSION]` and `pack NAME OPTION…`.
    static let start = """
        set -e
        printf 'correct horse' > vp; printf one > pw; printf two > wrong
        export OMVAULT_PASSWORD_FROM=file:vp XDG_RUNTIME_DIR=$HOME/.run
        mkdir -m 700 .run
        omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
        key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
        key ca; openssl req -x509 -new -key ca.key -subj /CN=ca -days 9 -out ca.crt
        sign() { openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days "${2:-9}" -out "$1.crt" 2> .sign; }
        leaf() { key "$1"; openssl req -new -key "$1.key" -subj "/CN=$1" | sign "$1" "$2"; }
        pack() { openssl pkcs12 -export -inkey "$1.key" -in "$1.crt" -name "$1" -passout file:pw -out "$1.p12" "${@:2}"; }
        import() { omvault cert import "$@" --password-from file:pw; }
        says() { grep -q -F -e "$1" .refused || { echo "not said: $1"; cat .refused; exit 98; }; }
        same() { cmp - "$1" || exit 97; }

        """

    private func expectDone(_ script: String) async throws {
        let ran = try await bash(Self.start + script + "\necho done")
        #expect(ran.status == 0 && ran.output.hasSuffix("done\n"), "\(ran.output)\n\(ran.errors)")
    }

    @Test("files of OpenSSL 3, of its older form and of keytool are imported, with the key that they have")
    func files() async throws {
        try await expectDone(
            """
            leaf ada
            for form in new legacy; do
                pack ada -certfile ca.crt $([[ $form == new ]] || echo -legacy)
                import ada.p12 --name $form
                openssl pkey -in ada.key > wanted; omvault get identity.$form:private | same wanted
                omvault get identity.$form:certificate | openssl x509 | same ada.crt
                omvault get identity.$form:chain | openssl x509 | same ca.crt
            done
            pack ada; import ada.p12 --name alone
            refused 10 omvault get identity.alone:chain
            [[ $(omvault cert show alone --json) == *'"level":"when-unlocked","device_only":true,"subject":"CN=ada","issuer":"CN=ca"'* ]]
            """)
    }

    @Test("a file of keytool with three keys makes three items")
    func keytool() async throws {
        guard try await bash("command -v keytool").status == 0 else {
            print("skipped: no keytool")
            return
        }
        try await expectDone(
            """
            printf oneone > pw
            for name in a b c; do
                leaf $name; pack $name -certfile ca.crt
                keytool -importkeystore -srckeystore $name.p12 -srcstorepass oneone -destkeystore all.p12 \\
                    -deststoretype PKCS12 -deststorepass oneone -noprompt 2> .keytool
            done
            refused 11 import all.p12 --name x; says '--identity'
            import all.p12 --identity b
            import all.p12
            [[ $(omvault cert ls --format plain | cut -f 1 | tr '\\n' ' ') == 'a b c ' ]]
            for name in a b c; do omvault get identity.$name:certificate | openssl x509 | same $name.crt; done
            """)
    }

    @Test("the same import again changes nothing, and another identity of the name is refused")
    func again() async throws {
        try await expectDone(
            """
            leaf ada; pack ada
            import ada.p12 2> said; grep -q 'imported "ada"' said
            before=$(omvault history identity.ada --json)
            import ada.p12 2> said; grep -q 'unchanged: "ada"' said
            [[ $(import ada.p12 --json) == *'"result":"unchanged"'* ]]
            [[ $(omvault history identity.ada --json) == "$before" ]]
            # The same key with a chain is another identity.
            pack ada -certfile ca.crt; refused 5 import ada.p12; says 'cert attach'
            cp ada.crt first; leaf ada; pack ada; refused 5 import ada.p12
            omvault get identity.ada:certificate | openssl x509 | same first
            import ada.p12 --name second
            # With --name, an identity of another name is not the same one.
            import ada.p12 --name third
            [[ $(omvault cert ls --format plain | wc -l) == 3 ]]
            """)
    }

    @Test("each wrong file has its exit code and its number, and nothing is imported")
    func wrongFiles() async throws {
        try await expectDone(
            """
            leaf ada; leaf other; pack ada
            refused 10 import none.p12; says ORAIDMMOBILE-10533
            refused 10 import ada.p12/none; says ORAIDMMOBILE-10533
            refused 30 import ada.crt; says ORAIDMMOBILE-10502
            : > empty; refused 30 import empty; says ORAIDMMOBILE-10502
            openssl pkcs12 -export -nokeys -in ada.crt -passout file:pw -out certs.p12
            refused 10 import certs.p12; says ORAIDMMOBILE-10037
            openssl pkcs12 -export -nocerts -inkey ada.key -passout file:pw -out key.p12
            refused 10 import key.p12; says ORAIDMMOBILE-10037
            for i in 1 2 3; do
                refused 20 omvault cert import ada.p12 --password-from file:wrong --delete-source; says ORAIDMMOBILE-10038
            done
            [[ -f ada.p12 ]]
            [[ $(omvault ls | wc -l) == 0 ]]
            """)
    }

    @Test("a hostile PKCS#12 is refused: BER, two certificates of one key, too many bags, no MAC, too much work")
    func hostile() async throws {
        try await expectDone(
            """
            leaf ada; pack ada
            python3 - <<'END'
            file = open("ada.p12", "rb").read()
            assert file[:2] == b"\\x30\\x82"
            open("ber.p12", "wb").write(b"\\x30\\x80" + file[4:] + b"\\0\\0")
            END
            openssl pkcs12 -in ber.p12 -passin file:pw -noout
            refused 30 import ber.p12; says 'openssl pkcs12'
            openssl req -x509 -new -key ada.key -subj /CN=twin -days 9 -out twin.crt
            pack ada -certfile twin.crt; refused 30 import ada.p12; says 'more than one certificate'
            many() { for ((i = 0; i < $1; i++)); do openssl req -x509 -new -key ca.key -subj /CN=ca$i -days 9; done; }
            many 50 > chain; pack ada -certfile chain; import ada.p12 --name fifty
            [[ $(omvault cert show fifty --json) == *'"chain":50,'* ]]
            cat chain chain > more; pack ada -certfile more; refused 30 import ada.p12 --name more
            pack ada -nomac; refused 4 import ada.p12
            pack ada
            python3 - <<'END'
            file = open("ada.p12", "rb").read()
            end = len(file) - 67  # the data of the MAC
            assert file[end:end + 4] == b"\\x30\\x41\\x30\\x31" and file.endswith(b"\\x02\\x02\\x08\\x00")
            whole = (int.from_bytes(file[2:4], "big") + 2).to_bytes(2, "big")
            made = file[:2] + whole + file[4:end] + b"\\x30\\x43" + file[end + 2:-4] + b"\\x02\\x04\\x7F\\xFF\\xFF\\xFF"
            open("years.p12", "wb").write(made)
            END
            openssl asn1parse -inform DER -in years.p12 > .years
            refused 13 import years.p12; says 'more work'
            pack ada; printf '' > nothing
            refused 20 omvault cert import ada.p12 --password-from file:nothing
            openssl pkcs12 -export -inkey ada.key -in ada.crt -passout pass: -out ada.p12
            refused 20 import ada.p12
            omvault cert import ada.p12 --password-from file:nothing --name unsealed
            """)
    }

    @Test("an identity that servers may refuse is imported with a warning")
    func warnings() async throws {
        try await expectDone(
            """
            leaf old -1; pack old
            [[ $(import old.p12 --json 2> said) == *'"concerns":["expired"]'* ]]; grep -q 'warning: "old"' said
            openssl pkcs12 -export -inkey ca.key -in ca.crt -name ca -passout file:pw -out ca.p12
            import ca.p12 2> said; grep -q authority said
            printf 'extendedKeyUsage=serverAuth' > ext
            key srv; openssl req -new -key srv.key -subj /CN=srv | openssl x509 -req -CA ca.crt -CAkey ca.key -days 9 \\
                -extfile ext -out srv.crt 2> .sign
            pack srv; import srv.p12 2> said; grep -q 'authentication of clients' said
            omvault cert ls --format plain | cut -f 1,4 > list
            printf 'ca\\tauthority\\nold\\texpired\\nsrv\\tnot for clients\\n' | same list
            """)
    }

    @Test("a name in a file chooses no other item, and a name that no item can have is replaced")
    func names() async throws {
        try await expectDone(
            """
            leaf ada
            named() { openssl pkcs12 -export -inkey ada.key -in ada.crt -name "$1" -passout file:pw -out ada.p12; }
            named 'a:b'; import ada.p12; omvault cert rm ada --yes
            named $'a\\nb'; import ada.p12; omvault cert rm ada --yes
            named "$(printf 'x%.0s' {1..300})"; import ada.p12; omvault cert rm ada --yes
            omvault add other --field private=file:pw
            named ../other; import ada.p12
            [[ $(omvault get other:private) == one ]]
            omvault cert rm ../other --yes
            refused 10 omvault cert rm other --yes
            refused 2 import ada.p12 --name ''
            """)
    }

    @Test("--delete-source deletes only the file that was read: a regular file of this user with one name")
    func deletion() async throws {
        try await expectDone(
            """
            leaf ada; pack ada
            ln ada.p12 second; refused 14 import ada.p12 --delete-source; says 'more than one name'; rm second
            ln -s ada.p12 link; refused 14 import link --delete-source; says 'symbolic link'
            mkfifo pipe; refused 14 import pipe --delete-source; says 'not a regular file'
            refused 2 import - --delete-source < ada.p12
            refused 2 import ada.p12 --identity 1 --delete-source
            [[ -f ada.p12 && $(omvault ls | wc -l) == 0 ]]
            mkdir folder; cp ada.p12 folder; chmod 500 folder
            if [[ $(id -u) != 0 ]]; then refused 14 import folder/ada.p12 --delete-source; fi
            chmod 700 folder
            # Changed between the reading and the commit: the command for the vault's password runs in between.
            cat > change <<'END'
            #!/bin/bash
            printf x >> ada.p12; cat vp
            END
            chmod +x change
            refused 12 import ada.p12 --delete-source --vault-password-from cmd:./change
            [[ -f ada.p12 && $(omvault cert ls --format plain | wc -l) == 1 ]]
            sed -i 's/printf x.*;/mv ada.p12 moved; cp moved ada.p12;/' change; pack ada; omvault cert rm ada --yes
            refused 12 import ada.p12 --delete-source --vault-password-from cmd:./change
            [[ -f ada.p12 && -f moved ]]
            # The same again deletes too, since everything in it is in the vault.
            [[ $(import ada.p12 --delete-source --json) == *'"result":"unchanged"'*'"source_deleted":true'* ]]
            [[ ! -e ada.p12 ]]
            """)
    }

    @Test("a stored key that was changed is not the same identity, so its file is kept")
    func changedKey() async throws {
        try await expectDone(
            """
            leaf ada; pack ada; import ada.p12
            omvault set identity.ada:private --value-from file:pw
            refused 5 import ada.p12 --delete-source
            [[ -f ada.p12 ]]
            """)
    }

    @Test("OpenSSL verifies a request of each type, with every part of its subject and its names")
    func requests() async throws {
        try await expectDone(
            """
            for type in rsa ec-p256 ec-p384 ec-p521 ed25519; do
                omvault -q cert csr $type --type $type --subject 'CN=a\\,b,O=Ünï GmbH,C=DE' --san DNS:*.example.org \\
                    --san IP:192.0.2.7 --san ip:2001:db8::1 --san URI:https://a.example/x?y --san email:ada@example.org -o $type.csr
                openssl req -in $type.csr -verify -noout 2>&1 | grep -q 'verify OK'
                openssl req -in $type.csr -noout -subject -nameopt RFC2253,utf8,-esc_msb > subject
                printf 'subject=CN=a\\\\,b,O=Ünï GmbH,C=DE\\n' | same subject
                openssl req -in $type.csr -noout -text > text
                grep -q 'DNS:\\*.example.org, IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:1, URI:https://a.example/x?y, email:ada@example.org' text
            done
            # The same key again, and no other.
            omvault -q cert csr rsa --subject CN=again | openssl req -noout -pubkey > again
            openssl req -in rsa.csr -noout -pubkey | same again
            refused 5 omvault cert csr rsa --type ed25519 --subject CN=x
            refused 5 omvault cert csr new --subject CN=x -o rsa.csr
            refused 2 omvault cert csr new --subject C=DEU
            refused 2 omvault cert csr new --subject /CN=x
            refused 2 omvault cert csr new --subject CN=x --san DNS:a,DNS:b
            refused 2 omvault cert csr new --subject CN=x --san a.example.org
            refused 2 omvault cert csr new --subject CN=x --type x25519
            [[ $(omvault ls | grep -c new) == 0 ]]
            """)
    }

    @Test("an authority issues a certificate, attach adds it, and a server of OpenSSL accepts the identity")
    func issued() async throws {
        try await expectDone(
            """
            omvault -q unlock
            omvault -q cert csr db --subject CN=db -o db.csr
            refused 10 omvault get identity.db:certificate
            [[ $(omvault ---complete zsh cert show '') == *db* && $(omvault ---complete zsh cert show '') != *identity* ]]
            [[ $(omvault cert ls --format plain) == $'db\\t-\\t-\\tno certificate' ]]
            sign db < db.csr; leaf other
            refused 30 omvault cert attach db other.crt; says 'no certificate in the file belongs'
            refused 30 omvault cert attach db vp
            refused 10 omvault cert attach db none.crt
            refused 10 omvault cert attach none db.crt
            cat ca.crt db.crt | omvault cert attach db -
            omvault cert attach db <(cat db.crt ca.crt) 2> said; grep -q unchanged said
            omvault get identity.db:private > key; omvault get identity.db:certificate > crt
            leaf localhost
            openssl s_server -accept 127.0.0.1:0 -cert localhost.crt -key localhost.key -CAfile ca.crt -Verify 1 -verify_return_error \\
                -www > log 2>&1 & server=$!
            trap 'kill $server; omvault agent stop' EXIT
            while_runs $server grep -q '^ACCEPT 127' log
            port=$(sed -n 's/^ACCEPT 127.0.0.1://p' log)
            printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:$port -CAfile ca.crt -cert crt -key key \\
                > page 2> client || { cat client log; exit 1; }
            grep -q 'Subject: CN=db' page
            printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:$port -CAfile ca.crt > page 2> client || true
            refused 1 grep -q 'HTTP/1.0 200' page
            # A renewed certificate replaces the old one, which stays in the history. Without a chain the old chain goes too.
            sign db < db.csr; omvault cert attach db db.crt
            omvault get identity.db:certificate | openssl x509 | same db.crt
            refused 10 omvault get identity.db:chain
            [[ $(omvault history identity.db --format plain | wc -l) == 3 ]]
            """)
    }

    @Test("rm removes identities for good, all or none")
    func removal() async throws {
        try await expectDone(
            """
            for name in a b c; do omvault -q cert csr $name --subject CN=x > /dev/null; done
            refused 8 omvault cert rm a --no-input
            refused 10 omvault cert rm a none --yes
            omvault -q profile set p ClientCertificate=identity:b; omvault -q profile set q OAuthClientKey=identity:c
            refused 13 omvault cert rm a b --yes; says 'profile "p"'
            refused 13 omvault cert rm --all --yes
            omvault -q profile rm p --yes; omvault -q profile set q --unset OAuthClientKey
            [[ $(omvault cert ls --format plain | wc -l) == 3 ]]
            omvault cert rm a --yes; refused 10 omvault get identity.a:private
            [[ $(omvault ls --trash | wc -l) == 0 ]]
            [[ $(omvault cert rm --all --yes --json) == *'"identities":["b","c"]'* ]]
            [[ $(omvault cert rm --all --json) == *'"identities":[]'* ]]
            """)
    }

    @Test("rm removes no identity while a profile cannot be read, and the key stays")
    func damagedProfile() async throws {
        try await expectDone(
            """
            for name in db other; do omvault -q cert csr $name --subject CN=x > /dev/null; done
            omvault get identity.db:private > key
            omvault -q profile set p1 ClientCertificate=identity:db
            profile=$(find "$HOME" -name p1.json); echo bad >> "$profile"
            for what in db other --all; do refused 13 omvault cert rm $what --yes; says 'profile "p1" cannot be read'; done
            omvault get identity.db:private | same key
            sed -i '$d' "$profile"; refused 13 omvault cert rm db --yes; says 'uses the identity'
            echo bad >> "$profile"; omvault -q profile rm p1 --yes
            omvault cert rm --all --yes
            """)
    }

    @Test("a profile means the identities of the default vault: rm refuses there under each name of it, and in no other vault")
    func removalElsewhere() async throws {
        try await expectDone(
            """
            omvault -q init other --kdf-mem 8 --kdf-time 1 --no-recovery
            for vault in personal other; do omvault -q -V $vault cert csr db --subject CN=x > /dev/null; done
            omvault -q profile set p ClientCertificate=identity:db
            refused 13 omvault cert rm db --yes
            refused 13 omvault -V personal cert rm db --yes
            refused 13 omvault -V "$(find "$HOME" -name personal.omv)" cert rm db --yes
            export OMVAULT_VAULT=other
            refused 13 omvault cert rm db --yes
            refused 13 omvault -V personal cert rm db --yes
            unset OMVAULT_VAULT
            omvault -V other cert rm db --yes
            omvault -q get identity.db:private > key
            """)
    }

    @Test("attach reads every certificate of its file before the vault is opened")
    func readBeforeTheVault() async throws {
        try await expectDone(
            """
            printf '#!/bin/bash\ntouch opened; cat vp\n' > open; chmod +x open
            attach() { omvault cert attach db "$1" --vault-password-from cmd:./open; }
            omvault -q cert csr db --subject CN=db -o db.csr
            signed() { openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 9 -extfile ext -out "$1" 2> .sign; }
            for fault in basicConstraints=DER:05:00 subjectAltName=DER:05:00; do
                printf '%s\n' $fault > ext; signed bad.crt < db.csr
                refused 30 attach bad.crt; [[ ! -e opened ]]
            done
            # A chain needs no description.
            key up; openssl req -new -key up.key -subj /CN=up | signed up.crt
            sign db < db.csr; cat db.crt up.crt > both.crt
            attach both.crt; [[ -e opened ]]
            omvault get identity.db:chain | openssl x509 | same up.crt
            """)
    }

    @Test("an identity that is there keeps its level, and a warning says so if --level names another one")
    func levelStays() async throws {
        try await expectDone(
            """
            leaf ada; pack ada; import ada.p12 --level after-first-unlock 2> said; refused 1 grep -q level said
            for format in '' --json; do
                import ada.p12 --level when-unlocked $format 2> said > out
                grep -q 'warning: "ada" keeps its level after-first-unlock: omvault set identity.ada --level' said
            done
            import ada.p12 --device-only 2> said; grep -q 'keeps its level' said
            import ada.p12 --level after-first-unlock 2> said; refused 1 grep -q level said
            import ada.p12 2> said; refused 1 grep -q level said
            [[ $(omvault cert show ada --json) == *'"level":"after-first-unlock","device_only":false'* ]]
            """)
    }

    @Test("a wrong password is asked for again at a terminal, three times at most")
    func askedAgain() async throws {
        let made = try await bash(Self.start + "leaf ada; pack ada; cat ada.p12 | base64 -w0")
        let file = made.output
        let script = """
            export OMVAULT_PASSWORD_FROM=file:vp; printf 'correct horse' > vp; printf %s '\(file)' | base64 -d > ada.p12
            omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault cert import ada.p12; echo "exit $?"
            """
        let right = try await atTerminal(script, [("Password of the file:", "two\n"), ("Password of the file:", "one\n")])
        #expect(right.output.contains("wrong password") && right.output.contains("exit 0"), "\(right.output)")
        let wrong = try await atTerminal(
            script, [(String, String?)](repeating: ("Password of the file:", "two\n"), count: 3))
        #expect(wrong.output.contains("exit 20"), "\(wrong.output)")
    }
}
