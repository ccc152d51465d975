import TestSupport
import Testing

/// `crypto hash`, `check`, `password-hash`, `hmac`, `kdf` and `rand`, and the programs that speak the same forms.
@Suite struct CryptoHashTests {
    /// Fails the script where a program is missing: an interoperation test that does not run proves nothing.
    private static let head = "set -euo pipefail; printf %s 'correct horse' > pw; printf %s 'correct horsf' > other\n"

    private func expectSuccess(_ script: String) async throws {
        let ran = try await bash(Self.head + script)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("slappasswd's strings verify here")
    func fromSlappasswd() async throws {
        try await expectSuccess(
            """
            for scheme in SHA SSHA MD5 SMD5; do
                /usr/sbin/slappasswd -T pw -n -h "{$scheme}" > stored
                omvault crypto check --hash-from file:stored --value-from file:pw --schemes $scheme
                refused 20 omvault crypto check --hash-from file:stored --value-from file:other --schemes $scheme
            done
            for scheme in SHA256 SSHA256 SHA384 SSHA384 SHA512 SSHA512; do
                /usr/sbin/slappasswd -o module-path=/usr/lib/ldap -o module-load=pw-sha2 \
                    -T pw -n -h "{$scheme}" > stored
                omvault crypto check --hash-from file:stored --value-from file:pw --schemes $scheme --encoding ldap
                refused 20 omvault crypto check --hash-from file:stored --value-from file:other --schemes $scheme
            done
            """)
    }

    @Test("what is written for LDAP, and every password hash, verifies with passlib, and passlib's verifies here")
    func passlib() async throws {
        try await expectSuccess(
            """
            for alg in sha1 sha256 sha512; do
                omvault -q crypto hash --alg $alg --encoding ldap --salt-bits 64 pw >> ours
            done
            for arguments in "scrypt --log-n 10" "bcrypt --cost 5"; do
                omvault -q crypto password-hash --alg $arguments --value-from file:pw >> ours
            done
            cat > check.py <<'END'
            from passlib.hash import ldap_salted_sha1, ldap_salted_sha256, ldap_salted_sha512, scrypt, bcrypt
            from passlib.hash import pbkdf2_sha1, pbkdf2_sha256, pbkdf2_sha512
            schemes = [ldap_salted_sha1, ldap_salted_sha256, ldap_salted_sha512, scrypt, bcrypt]
            ours = open("ours").read().splitlines()
            assert len(ours) == len(schemes)
            for scheme, text in zip(schemes, ours):
                assert scheme.verify("correct horse", text), text
                assert not scheme.verify("correct horsf", text), text
            with open("theirs", "w") as file:
                for scheme in schemes + [pbkdf2_sha1, pbkdf2_sha256, pbkdf2_sha512]:
                    chosen = scheme.using(rounds=5) if scheme is bcrypt else scheme
                    chosen = scheme.using(rounds=10) if scheme is scrypt else chosen
                    file.write(chosen.hash("correct horse") + "\\tcorrect horse\\n")
                    file.write(chosen.hash("correct horse") + "\\tcorrect horsf\\n")
            END
            /usr/bin/python3 -W ignore check.py
            omvault -q crypto check --batch theirs > answers && exit 1
            [[ $(grep -c '^match$' answers) == 8 && $(grep -c '^mismatch$' answers) == 8 && $(wc -l < answers) == 16 ]]
            """)
    }

    @Test("the argon2 program's strings verify here, and its key is ours")
    func argon2() async throws {
        try await expectSuccess(
            """
            for type in -i -d -id; do
                argon2 saltsalt1 $type -t 2 -k 256 -p 3 -l 24 -e < pw > stored
                omvault crypto check --hash-from file:stored --value-from file:pw
                refused 20 omvault crypto check --hash-from file:stored --value-from file:other
                raw=$(argon2 saltsalt1 $type -t 2 -k 256 -p 3 -l 24 -r < pw)
                ours=$(omvault crypto kdf --alg argon2${type#-} --salt-from cmd:'printf saltsalt1' --value-from file:pw \
                    --passes 2 --memory 256 --lanes 3 --length 24)
                [[ $raw == "$ours" ]]
            done
            """)
    }

    @Test("digests, MACs and derived keys are openssl's")
    func openssl() async throws {
        try await expectSuccess(
            """
            head -c 300000 /dev/urandom > data
            for alg in md5 sha1 sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 blake2b512
            do
                [[ $(omvault -q crypto hash --alg $alg data | cut -d' ' -f1) == \
                    $(openssl dgst -$alg -r data | cut -d' ' -f1) ]]
                [[ $(omvault crypto hmac --alg $alg --key-from file:pw data | tr a-f A-F) == \
                    $(openssl mac -digest $alg -macopt hexkey:$(od -An -v -tx1 pw | tr -d " \\n") -in data HMAC) ]]
                [[ $(omvault crypto kdf --alg pbkdf2 --hash $alg --iterations 7 --salt-from cmd:'printf salt' \
                        --value-from file:pw --length 40 | tr a-f A-F) == \
                    $(openssl kdf -keylen 40 -kdfopt digest:$alg -kdfopt pass:'correct horse' -kdfopt salt:salt \
                        -kdfopt iter:7 -kdfopt pkcs5:1 PBKDF2 | tr -d :) ]]
                [[ $(omvault crypto kdf --alg hkdf --hash $alg --salt-from cmd:'printf salt' --info-from cmd:'printf i' \
                        --value-from file:pw --length 40 | tr a-f A-F) == \
                    $(openssl kdf -keylen 40 -kdfopt digest:$alg -kdfopt key:'correct horse' -kdfopt salt:salt \
                        -kdfopt info:i HKDF | tr -d :) ]]
            done
            [[ $(omvault crypto kdf --alg scrypt --log-n 10 --r 8 --p 2 --salt-from cmd:'printf salt' --value-from file:pw \
                    --length 40 | tr a-f A-F) == \
                $(openssl kdf -keylen 40 -kdfopt pass:'correct horse' -kdfopt salt:salt -kdfopt n:1024 -kdfopt r:8 \
                    -kdfopt p:2 SCRYPT | tr -d :) ]]
            """)
    }

    @Test("every spelling that is written is checked again; the exit codes tell a mismatch from everything else")
    func exitCodes() async throws {
        let ran = try await bash(
            Self.head + """
                set +e
                try() { "$@" > out 2> err; echo $?; }
                for encoding in sdk sdk-android ldap phc; do
                    omvault crypto hash --encoding $encoding --salt-bits 128 pw > stored
                    try omvault crypto check --hash-from file:stored --value-from file:pw --encoding $encoding
                done
                try omvault crypto check --hash-from file:stored --value-from file:other
                omvault crypto hash --encoding sdk pw > plain
                try omvault crypto check --hash-from file:plain --value-from file:pw
                try omvault crypto check --hash-from file:plain --value-from file:pw --schemes unsalted
                try omvault crypto check --hash-from file:pw --value-from file:pw
                try omvault crypto check --hash-from file:plain --value-from file:pw --schemes what
                printf '$pbkdf2-sha256$i=99999999,l=32$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' > costly
                try omvault crypto check --hash-from file:costly --value-from file:pw
                try omvault crypto password-hash --alg pbkdf2 --iterations 99999999 --value-from file:pw
                try omvault crypto password-hash --alg pbkdf2 --memory 64 --value-from file:pw
                try omvault crypto kdf --alg scrypt --length 32 --value-from file:pw
                try omvault crypto hash --encoding sdk /dev/null
                try omvault crypto hash --encoding sdk --salt-bits 6 pw
                try omvault crypto hash --encoding ldap --alg sha3-256 pw
                try omvault crypto hash --salt-bits 64 --encoding hex pw
                try omvault crypto hash missing
                openssl dgst -sha256 -binary pw | base64 > bare
                try omvault crypto check --hash-from file:bare --encoding base64 --alg sha256 --value-from file:pw
                try omvault crypto check --hash-from file:bare --encoding base64 --alg sha256 --schemes all --value-from file:pw
                """)
        let codes = ran.output.split(separator: "\n").compactMap { Int($0) }
        #expect(codes == [0, 0, 0, 0, 20, 13, 0, 30, 2, 13, 13, 2, 2, 2, 2, 2, 2, 60, 13, 0], "\(ran.errors)")
    }

    @Test("the SDK's switches do what they do there, and a new salt is never lost")
    func switches() async throws {
        try await expectSuccess(
            """
            printf mypassword > pw; salt=(--encoding sdk --salt-from cmd:'printf A1B2C3')
            [[ $(omvault crypto hash "${salt[@]}" pw) == '{SaltedSHA-256}+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM=' ]]
            [[ $(omvault crypto hash "${salt[@]}" --no-prefix pw) == +6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM= ]]
            [[ $(omvault crypto hash "${salt[@]}" --no-append-salt pw) == \
                '{SaltedSHA-256}+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04Cuons=' ]]
            printf mypasswordA1B2C3 | openssl dgst -sha256 -binary > digest
            for flags in "" --no-prefix --no-append-salt "--no-prefix --no-append-salt"; do
                omvault crypto hash "${salt[@]}" --no-base64 $flags pw | cmp - digest
            done
            refused 2 omvault crypto hash --encoding sdk --salt-bits 64 --no-append-salt pw
            omvault --json crypto hash --encoding sdk --salt-bits 64 --no-append-salt pw > document
            hash=$(sed -E 's/.*"hash":"\\{SaltedSHA-256\\}([^"]*)".*/\\1/' document)
            salt=$(sed -E 's/.*"salt":"([0-9A-F]{16})".*/\\1/' document)
            [[ $(printf mypassword$salt | openssl dgst -sha256 -binary | base64) == "$hash" ]]
            """)
    }

    @Test("a batch hashes and checks line by line, pairs or values, files larger than one piece")
    func batch() async throws {
        try await expectSuccess(
            """
            for number in $(seq 3000); do echo "password-$number-$(printf 'x%.0s' {1..40})"; done > values
            omvault crypto hash --batch --encoding ldap --salt-bits 64 values > stored
            [[ $(sort -u stored | wc -l) == 3000 ]]
            paste stored values | omvault -q crypto check --batch | sort | uniq -c | grep -qx ' *3000 match'
            { paste stored values; printf 'broken\\tx\\n'; head -1 stored | tr '\\n' '\\t'; echo other; } > lines
            code=0; omvault -q crypto check --batch lines > answers || code=$?
            [[ $code == 20 && $(tail -2 answers | cut -f1 | tr '\\n' ' ') == 'refused mismatch ' ]]
            head -1 stored > one
            code=0; omvault -q crypto check --hash-from file:one --batch values > answers || code=$?
            [[ $code == 20 && $(head -1 answers) == match && $(grep -c mismatch answers) == 2999 ]]
            """)
    }

    @Test("a raw key or salt that ends in a newline keeps it; a password and the SDK's salt lose it")
    func newlines() async throws {
        try await expectSuccess(
            """
            printf 'key\\n' > key; echo 'correct horse' > typed; echo A1B2C3 > salt
            [[ $(omvault crypto hmac --key-from file:key pw) == \
                $(openssl mac -digest sha256 -macopt hexkey:6b65790a -in pw HMAC | tr A-F a-f) ]]
            omvault crypto hash --encoding sdk --salt-from file:salt pw > stored
            omvault crypto check --hash-from file:stored --value-from file:typed
            omvault crypto hash --encoding ldap --salt-from file:salt pw > stored
            [[ $(sed 's/{SSHA256}//' stored | base64 -d | tail -c 1 | od -An -v -tx1 | tr -d " \\n") == 0a ]]
            """)
    }

    @Test("random bytes come in the encoding and the number asked for")
    func random() async throws {
        try await expectSuccess(
            """
            [[ $(omvault crypto rand --bytes 100000 --encoding raw | wc -c) == 100000 ]]
            [[ $(omvault crypto rand --bytes 100001 --encoding base64 | base64 -d | wc -c) == 100001 ]]
            [[ $(omvault crypto rand --bytes 99 --encoding base32 | base32 -d | wc -c) == 99 ]]
            [[ $(omvault crypto rand) =~ ^[0-9a-f]{64}$ && $(omvault crypto rand) != $(omvault crypto rand) ]]
            refused 2 omvault crypto rand --bytes 0
            """)
    }

    @Test("the toolkit opens no socket, no vault and nothing in the home")
    func opensNothing() async throws {
        let ran = try await bash(
            Self.head + """
                omvault crypto hash --encoding ldap --salt-bits 64 pw > stored
                for command in "check --hash-from file:stored --value-from file:pw" "check --hash-from file:stored pw" \\
                    "hash pw" "hmac --key-from file:pw pw" "rand" "hash --encoding ldap --salt-bits 64 pw" \\
                    "kdf --alg hkdf --length 16 --value-from file:pw" \\
                    "password-hash --alg pbkdf2 --iterations 9 --value-from file:pw"; do
                    strace -f -qq -e trace=network,openat,open -o trace omvault -q crypto $command > /dev/null || exit 2
                    grep -E 'socket\\(|connect\\(|\\.omv"' trace && exit 1
                    grep -F "$HOME/" trace && exit 1
                done
                exit 0
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }
}
