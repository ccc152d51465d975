import TestSupport
import Testing

/// Where keys go and where they come from: files, the vault, standard input, the identities of PKCS#12.
@Suite struct CryptoKeyInputTests {
    private func expectDone(_ script: String) async throws {
        let ran = try await bash("set -e; umask 022\n" + script + "\necho done")
        #expect(ran.output.hasSuffix("done\n"), "\(ran.output)\n\(ran.errors)")
    }

    private static let make = """
        make() { omvault -q crypto keygen --type "$1" --out "$2.pem" --pub "$2.pub" --no-password --insecure; }

        """

    @Test("a public key never replaces the private one, and nothing is made where one of the two cannot be")
    func samePlaces() async throws {
        try await expectDone(
            """
            gen() { omvault -q crypto keygen --type ed25519 --no-password --insecure "$@"; }
            mkdir d; ln -s d link
            for pub in k ./k d/../k "$PWD/k" link/../k; do
                refused 2 gen --out k --pub $pub
                refused 2 gen --out k --pub $pub --force
            done
            refused 2 gen --out d/k --pub link/k
            test ! -e k; test ! -e d/k
            gen --out k; cp k before; ln k hard; ln -s k soft
            for pub in k hard soft; do refused 2 gen --out k --pub $pub --force; done
            cmp k before
            refused 2 gen --pub -
            refused 60 gen --out new --pub nodir/x
            test ! -e new
            test -z "$(find . -name '.omvault-*')"
            printf 'vault password' > p; export OMVAULT_PASSWORD_FROM=file:p
            omvault -q init --no-recovery 2> /dev/null
            refused 60 omvault -q crypto keygen --type ed25519 --tag half --pub nodir/x
            refused 10 omvault crypto pubkey --tag half
            omvault -q crypto keygen --type ed25519 --tag whole --pub - > shown
            omvault crypto pubkey --tag whole | cmp - shown
            """)
    }

    @Test("-o - is standard output, and what keygen did is a document with --json")
    func outputs() async throws {
        try await expectDone(
            """
            omvault -q crypto keygen --type ed25519 --no-password --insecure --out - > k
            omvault crypto pubkey --in k -o - > pub
            omvault crypto sign --key-from file:k --signature - k > s
            omvault -q crypto verify --key-from file:pub --signature s k
            test ! -e ./-
            test "$(stat -c %a pub)" = 644
            omvault crypto pubkey --in k -o public; test "$(stat -c %a public)" = 644
            (umask 077; omvault crypto pubkey --in k -o own); test "$(stat -c %a own)" = 600
            omvault crypto keygen --type ec-p256 --no-password --insecure --out f --pub f.pub --json > document
            python3 - <<'END'
            import json
            d = json.load(open('document'))
            assert (d['type'], d['bits'], d['file'], d['public_file']) == ('ec-p256', 256, 'f', 'f.pub'), d
            assert len(d['sha256']) == 64
            END
            omvault crypto keygen --type aes --out a --json | grep -q '"bits":256'
            test "$(stat -c %a f a)" = $'600\n600'
            """)
    }

    @Test("standard input is read once: two things from it are a mistake of usage")
    func standardInput() async throws {
        try await expectDone(
            Self.make + """
                make ed25519 k; make x25519 x; printf 'a message' > m
                : | omvault -q crypto sign --key-from file:k.pem > empty.sig
                for name in - /dev/stdin; do
                    refused 2 omvault crypto verify --key-from file:k.pub --signature $name < empty.sig
                    refused 2 omvault crypto verify --key-from file:k.pub --signature $name - < empty.sig
                done
                refused 2 omvault crypto agree --key-from stdin --peer - < x.pem
                refused 2 omvault crypto agree --key-from stdin --peer /dev/stdin < x.pem
                refused 2 omvault crypto convert --in - --to p12 --cert - --encrypt-from file:m < k.pem
                refused 2 omvault crypto sign --key-from stdin < k.pem
                refused 2 omvault crypto sign --key-from stdin /dev/stdin < k.pem
                omvault -q crypto verify --key-from file:k.pub --signature - /dev/null < empty.sig
                omvault -q crypto sign --key-from stdin m < k.pem > s
                omvault -q crypto verify --key-from file:k.pub --signature s < m
                """)
    }

    @Test("keyrm removes key pairs and nothing else")
    func keyrm() async throws {
        try await expectDone(
            """
            printf 'vault password' > p; export OMVAULT_PASSWORD_FROM=file:p
            omvault -q init --no-recovery 2> /dev/null
            omvault -q add keypair.mine --field secretthing=file:p
            refused 10 omvault crypto keyrm --tag mine --yes
            refused 5 omvault crypto keygen --type ed25519 --tag mine
            omvault get keypair.mine:secretthing | cmp - p
            omvault -q add keypair.mixed --field private=file:p --field notes=file:p
            refused 2 omvault crypto keyrm --tag mixed --yes
            grep -q notes .refused
            omvault get keypair.mixed:notes | cmp - p
            omvault -q crypto keygen --type ed25519 --tag real
            omvault -q crypto keyrm --tag real --yes
            refused 10 omvault crypto pubkey --tag real
            """)
    }

    @Test("a key made elsewhere is put into the vault under a tag or a name, and signs there")
    func importing() async throws {
        try await expectDone(
            """
            printf 'vault password' > p; export OMVAULT_PASSWORD_FROM=file:p
            omvault -q init --no-recovery 2> /dev/null
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2> /dev/null
            openssl pkey -in rsa.pem -pubout -out rsa.pub
            omvault -q crypto convert --in rsa.pem --to-tag web
            omvault -q crypto convert --in rsa.pem --out om://personal/x --level after-first-unlock
            omvault crypto pubkey --tag web | cmp - rsa.pub
            omvault crypto pubkey --in om://personal/x | cmp - rsa.pub
            omvault -q crypto sign --tag web --signature s p
            openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1 -verify rsa.pub -signature s p
            refused 5 omvault crypto convert --in rsa.pem --to-tag web
            refused 5 omvault crypto convert --in rsa.pem --out om://personal/x
            refused 2 omvault crypto convert --in rsa.pem --out om://personal
            refused 2 omvault crypto convert --in rsa.pem --out om://personal/x/y
            refused 2 omvault crypto convert --in rsa.pub --to-tag pub
            refused 2 omvault crypto convert --in rsa.pem --to-tag t --to jwk --insecure
            refused 2 omvault crypto convert --in rsa.pem --to-tag t --out f
            refused 2 omvault crypto convert --in rsa.pem --level always --insecure --no-password
            omvault crypto convert --in rsa.pem --to-tag again --json | grep -q '"item":"keypair.again"'
            """)
    }

    /// A file of two keys, each with its own certificate, and a certificate authority's.
    private static let twoIdentities = """
        printf one > pw
        for name in first second ca; do
            openssl req -new -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.crt \
                -subj "/CN=$name" 2> /dev/null
            openssl pkey -in $name.key -pubout -out $name.pub
        done
        openssl pkcs12 -export -inkey first.key -in first.crt -certfile ca.crt -name 'my first' -passout pass:one -out one.p12
        for name in first second; do
            openssl pkcs12 -export -inkey $name.key -in $name.crt -name "my $name" -passout pass:oneone -out $name.p12
        done

        """

    @Test("from PKCS#12 to PKCS#12 the chain and the name go along, and certificates are taken out")
    func chains() async throws {
        try await expectDone(
            Self.twoIdentities + """
                convert() { omvault -q crypto convert --in one.p12 --key-password-from file:pw "$@"; }
                convert --to p12 --encrypt-from file:pw -o again.p12
                openssl pkcs12 -in again.p12 -passin pass:one -nokeys 2> /dev/null | grep -c 'BEGIN CERT' | grep -qx 2
                openssl pkcs12 -in again.p12 -passin pass:one -nokeys | grep -q 'friendlyName: my first'
                convert --to p12 --encrypt-from file:pw --name other -o named.p12
                openssl pkcs12 -in named.p12 -passin pass:one -nokeys | grep -q 'friendlyName: other'
                convert --to p12 --encrypt-from file:pw --cert first.crt -o short.p12
                openssl pkcs12 -in short.p12 -passin pass:one -nokeys | grep -c 'BEGIN CERT' | grep -qx 1
                convert --to cert -o chain.pem
                cat first.crt ca.crt | cmp - chain.pem
                test "$(stat -c %a chain.pem)" = 644
                cat second.key first.crt > both.pem
                omvault crypto convert --in both.pem --to cert | cmp - first.crt
                openssl x509 -in first.crt -outform der -out first.der
                omvault crypto convert --in first.der --to cert | cmp - first.crt
                omvault crypto convert --in one.p12 --key-password-from file:pw --encrypt-from file:pw 2>&1 > /dev/null |
                    grep -q "2 of the file's certificates are not in the output"
                refused 2 convert --to p12 --encrypt-from file:pw --cert ca.crt --cert first.crt
                grep -q '"ca.crt": the first certificate does not belong to the key' .refused
                refused 30 convert --to p12 --encrypt-from file:pw --cert pw
                grep -q '"pw"' .refused
                """)
    }

    @Test("of a PKCS#12 file with two keys --identity picks one, by name or by number")
    func identities() async throws {
        guard try await bash("command -v keytool").status == 0 else {
            print("skipped: no keytool")
            return
        }
        try await expectDone(
            Self.twoIdentities + """
                printf oneone > pw
                for name in first second; do
                    keytool -importkeystore -srckeystore $name.p12 -srcstorepass oneone -destkeystore two.p12 \
                        -deststoretype PKCS12 -deststorepass oneone -noprompt > /dev/null 2>&1
                done
                pubkey() { omvault crypto pubkey --in two.p12 --key-password-from file:pw "$@"; }
                refused 11 pubkey
                grep -q -e --identity .refused
                pubkey --identity 'my first' | cmp - first.pub
                pubkey --identity 'my second' | cmp - second.pub
                one=$(pubkey --identity 1); two=$(pubkey --identity 2)
                test "$one" != "$two"
                refused 10 pubkey --identity 3
                refused 10 pubkey --identity 0
                refused 10 pubkey --identity nobody
                refused 2 omvault crypto pubkey --in first.key --identity 1
                omvault crypto inspect --in two.p12 --key-password-from file:pw | grep -c '^identity' | grep -qx 2
                omvault -q crypto sign --key-from file:two.p12 --key-password-from file:pw --identity 'my second' --signature s pw
                openssl dgst -sha256 -verify second.pub -signature s pw
                omvault -q crypto convert --in two.p12 --key-password-from file:pw --identity 'my first' --to cert |
                    cmp - first.crt
                printf secret > value
                keytool -importpass -alias other -keystore two.p12 -storetype PKCS12 -storepass oneone -noprompt \
                    < <(printf 'secret12\\nsecret12\\n') > /dev/null 2>&1
                omvault crypto inspect --in two.p12 --key-password-from file:pw | grep -q 'other_secrets'
                pubkey --identity 'my first' | cmp - first.pub
                """)
    }

    @Test("a wrapping key may stand in the vault, symmetric or a pair, with or without its field")
    func wrappingKeys() async throws {
        try await expectDone(
            """
            printf 'vault password' > p; export OMVAULT_PASSWORD_FROM=file:p
            omvault -q init --no-recovery 2> /dev/null
            head -c 24 /dev/urandom > k; head -c 32 /dev/urandom > kek
            od -An -tx1 kek | tr -d ' \\n' > kek.hex
            omvault -q add box --field key=file:kek --field hex=file:kek.hex
            omvault -q crypto keygen --type rsa --out om://personal/mine
            omvault -q crypto keygen --type x25519 --tag sealing
            wrap() { omvault -q crypto wrap --key-from file:k --force -o w "$@"; }
            unwrap() { omvault crypto unwrap --key-from file:w "$@" | cmp - k; }
            wrap --kek-from om://personal/box; unwrap --kek-from file:kek
            wrap --kek-from file:kek; unwrap --kek-from om://personal/box/hex --kek-encoding hex
            wrap --alg rsa-oaep-sha256 --kek-from om://personal/mine
            unwrap --alg rsa-oaep-sha256 --kek-from om://personal/mine --password-from file:p
            wrap --alg x25519 --kek-from om://personal/keypair.sealing
            unwrap --alg x25519 --kek-from om://personal/keypair.sealing/private
            refused 10 wrap --kek-from om://personal/mine; refused 10 wrap --kek-from om://personal/none
            refused 2 wrap --kek-from om://personal
            for option in '--password-from file:p' '--keyslot 1' '--recovery-from file:p'; do
                refused 2 wrap --kek-from file:kek $option
                grep -q 'opens a vault' .refused
            done
            printf wrong > q
            refused 20 wrap --kek-from om://personal/box --password-from file:q
            """)
    }
}
