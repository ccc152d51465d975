import TestSupport
import Testing

/// Keys of a PKCS#12 file that holds several. Transcripts show where else keys come from: key-pairs.md, key-conversion.md.
@Suite struct CryptoKeyInputTests {
    /// Two keys, each in a file of its own with its certificate.
    private static let twoIdentities = """
        set -e
        for name in first second; do
            openssl req -new -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.crt \
                -subj "/CN=$name" 2> /dev/null
            openssl pkey -in $name.key -pubout -out $name.pub
        done
        for name in first second; do
            openssl pkcs12 -export -inkey $name.key -in $name.crt -name "my $name" -passout pass:oneone -out $name.p12
        done

        """

    @Test("--identity picks one key of a PKCS#12 file with two keys, by name or by number")
    func identities() async throws {
        guard try await bash("command -v keytool").status == 0 else {
            print("skipped: no keytool")
            return
        }
        let ran = try await bash(
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
                echo done
                """)
        #expect(ran.output.hasSuffix("done\n"), "\(ran.output)\n\(ran.errors)")
    }
}
