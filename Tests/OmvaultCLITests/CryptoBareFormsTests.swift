import TestSupport
import Testing

/// Bare ciphers in the forms of others, what is refused of them, and where the result goes.
@Suite("crypto encrypt and decrypt, bare: forms and refusals") struct CryptoBareFormsTests {
    private static let prepare = """
        printf 'correct horse' > pw; head -c 1000 /dev/urandom > m; head -c 32 /dev/urandom > k
        head -c 16 /dev/urandom > iv; head -c 12 /dev/zero > z12; head -c 24 /dev/zero > z24
        encrypt() { omvault -q crypto encrypt "$@"; }
        decrypt() { omvault -q crypto decrypt "$@"; }
        try() { "$@" > out 2> err; echo $?; }

        """

    @Test("a nonce of zeros from any source is gated for authenticated ciphers too")
    func zeroNonces() async throws {
        let ran = try await bash(
            Self.prepare + """
                try encrypt --raw --alg aes-256-gcm --key-from file:k --iv-from file:z12 -i m
                try encrypt --raw --alg xchacha20-poly1305 --key-from file:k --iv-from file:z24 -i m
                try encrypt --raw --alg aes-256-gcm --key-from file:k --iv-from file:z24 -i m; wc -c < out
                try encrypt --raw --alg aes-256-gcm --key-from file:k --iv-from file:z12 --insecure -i m -o c
                try decrypt --raw --alg aes-256-gcm --key-from file:k --iv-from file:z12 -i c; cmp out m && echo same
                """)
        #expect(ran.output == "33\n33\n33\n0\n0\n0\nsame\n", "\(ran.errors)")
    }

    @Test(
        "an option that would mean nothing is a usage error, not silence",
        arguments: [
            "encrypt --alg aes-256-cbc --aad-from file:missing --key-from file:k",
            "decrypt --alg aes-256-ctr --aad-from file:missing --key-from file:k",
            "encrypt --alg aes-256-ecb --insecure --aad-from file:m --key-from file:k",
            "encrypt --padding none --key-from file:k", "encrypt --raw --padding pkcs7 --key-from file:k",
            "encrypt --alg aes-256-ctr --padding pkcs7 --key-from file:k", "encrypt --encoding base64 --key-from file:k",
            "encrypt --alg chacha20-poly1305 --iv-from file:iv --key-from file:k", "encrypt --aad-from file:m --key-from file:k",
            "decrypt --encoding base64 --key-from file:k", "encrypt --openssl-iterations 5 --key-from file:k",
            "encrypt --openssl-hash nonsense --key-from file:k", "encrypt --kdf-mem 8 --key-from file:k",
            "encrypt --kdf-time 1 --recipient iv", "encrypt --raw --kdf-time 1 --key-from file:k",
            "encrypt --alg aes-256-cbc --openssl legacy --openssl-iterations 5 --password-from file:pw --insecure",
            "encrypt --alg aes-256-cbc --openssl pbkdf2 --encoding sdk --password-from file:pw",
            "encrypt --alg aes-256-cbc --iv-encoding hex --key-from file:k",
            "encrypt --alg aes-256-cbc --openssl pbkdf2 --openssl-iterations -5 --insecure --password-from file:pw",
            "decrypt --alg aes-256-cbc --encoding sdk-android --padding pkcs7 --key-from file:k",
            "encrypt --key-encoding hex --password-from file:pw", "encrypt --key-encoding hex --recipient k",
            "encrypt --key-encoding hex --tag t", "encrypt --max-work 2 --key-from file:k",
            "encrypt --max-work 2 --password-from file:pw", "encrypt --raw --max-work 2 --key-from file:k",
            "encrypt --alg aes-256-cbc --max-work 2 --key-from file:k",
            "encrypt --alg aes-256-cbc --key-password-from file:pw --key-from file:k",
            "encrypt --identity one --key-from file:k",
            "encrypt --alg aes-256-cbc --openssl pbkdf2 --key-encoding hex --password-from file:pw",
            "encrypt --alg aes-256-cbc --openssl legacy --max-work 2 --insecure --password-from file:pw",
        ])
    func meaningless(line: String) async throws {
        let ran = try await bash(Self.prepare + "omvault -q crypto \(line) -i m -o c; echo $?; ls c 2> /dev/null")
        #expect(ran.output == "2\n", "\(ran.errors)")
    }

    @Test("openssl's PBKDF2 with fewer iterations than openssl's own is gated, and read without a flag")
    func weakWork() async throws {
        let ran = try await bash(
            Self.prepare + """
                openssl() { "$@" --alg aes-256-cbc --openssl pbkdf2 --password-from file:pw; }
                try openssl encrypt --openssl-iterations 9999 -i m; try openssl encrypt --openssl-iterations 10000 -i m -o a
                try openssl encrypt --openssl-iterations 1 --openssl-hash md5 -i m
                try openssl encrypt --openssl-iterations 1 --openssl-hash md5 --insecure -i m -o c
                try openssl decrypt --openssl-iterations 1 --openssl-hash md5 -i c; cmp out m && echo same
                try openssl encrypt --openssl-iterations 20000000 -i m; grep -c 'max-work' err
                """)
        #expect(ran.output == "33\n0\n33\n0\n0\nsame\n13\n2\n", "\(ran.errors)")
    }

    @Test("what openssl enc -a writes is read, and what is written it reads, byte for byte")
    func opensslText() async throws {
        let ran = try await bash(
            Self.prepare + """
                set -e
                for count in 0 15 32 47 48 100003; do
                    head -c $count /dev/urandom > p
                    openssl enc -aes-256-cbc -pbkdf2 -a -pass file:pw -in p -out theirs
                    decrypt --alg aes-256-cbc --openssl pbkdf2 --encoding base64 --password-from file:pw -i theirs | cmp - p
                    sed 's/$/\\r/' theirs > dos
                    decrypt --alg aes-256-cbc --openssl pbkdf2 --encoding base64 --password-from file:pw -i dos | cmp - p
                    encrypt --alg aes-256-cbc --openssl pbkdf2 --encoding base64 --password-from file:pw -i p -o ours --force
                    openssl enc -d -aes-256-cbc -pbkdf2 -a -pass file:pw -in ours | cmp - p
                done
                [[ $(head -1 ours | wc -c) == 65 && $(wc -l < ours) == $(wc -l < theirs) ]]
                openssl enc -aes-256-cbc -a -K $(od -An -v -tx1 k | tr -d ' \\n') -iv $(od -An -v -tx1 iv | tr -d ' \\n') \
                    -in m -out theirs
                decrypt --alg aes-256-cbc --encoding base64 --key-from file:k --iv-from file:iv -i theirs | cmp - m
                set +e; decrypt --alg aes-256-cbc --openssl pbkdf2 --password-from file:pw -i ours; echo $?
                tr A-Z '!' < ours > broken
                decrypt --alg aes-256-cbc --openssl pbkdf2 --encoding base64 --password-from file:pw -i broken; echo $?
                """)
        #expect(ran.output == "30\n30\n", "\(ran.errors)")
        #expect(ran.errors.contains("hint: for a file of openssl enc -a: --encoding base64"))
    }

    @Test("the SDK's form goes by the SDK's rules: no CTR, no empty input, Triple DES with three keys, its own prefix")
    func sdk() async throws {
        let ran = try await bash(
            Self.prepare + """
                sdk() { "$@" --encoding sdk --iv-from file:v --insecure; }
                head -c 8 /dev/urandom > v; head -c 16 k > k16; head -c 24 k > k24
                try sdk encrypt --alg 3des-cbc --key-from file:k24 -i m -o d
                try sdk encrypt --alg 3des-cbc --key-from file:k16 -i m; cat err; cp iv v
                try sdk encrypt --alg aes-256-ctr --key-from file:k -i m
                try sdk encrypt --alg aes-256-cbc --key-from file:k -i /dev/null; cat err
                try encrypt --alg aes-256-cbc --encoding sdk --iv-from random --key-from file:k -i m
                try sdk encrypt --alg aes-256-cbc --key-from file:k -i m -o s
                try decrypt --alg aes-256-cbc --encoding sdk --iv-from file:v --key-from file:k -i s; cmp out m && echo same
                try decrypt --alg aes-256-cbc --encoding sdk --iv-from file:v --key-from file:k -i d; cat err
                (cat s; echo '!') | tr -d '\\n' > damaged
                try decrypt --alg aes-256-cbc --encoding sdk --iv-from file:v --key-from file:k -i damaged
                try decrypt --alg aes-256-cbc --encoding sdk-android --key-from file:k -i s
                try decrypt --alg aes-256-cbc --encoding base64 --key-from file:k -i s
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { Int($0) != nil || $0 == "same" } == [
                "0", "2", "2", "2", "2", "0", "0", "same", "30", "30", "30", "30",
            ])
        for number in [10406, 10507, 10516] { #expect(ran.output.contains("sdk: ORAIDMMOBILE-\(number)\n"), "\(ran.output)") }
        #expect(ran.output.contains("does not begin with {AES}"))
        #expect(!ran.output.contains("stored hash"))
    }

    @Test("what is written at the limit of memory is read again; what is longer is refused by its size, unread")
    func sizes() async throws {
        let ran = try await bash(
            Self.prepare + """
                most=$((256 << 20)); truncate -s $most big; truncate -s $((most + 1)) over
                try encrypt --raw --alg aes-256-gcm --key-from file:k -i over; grep -c '256 MiB' err
                encrypt --raw --alg aes-256-gcm --key-from file:k -i big -o c; echo $?
                decrypt --raw --alg aes-256-gcm --key-from file:k -i c | cmp - big; echo $?; rm c
                truncate -s 4G huge
                strace -qq -e trace=read -o log omvault -q crypto decrypt --raw --alg aes-256-gcm --key-from file:k -i huge
                echo $?; grep -c '= 4096$' log
                """)
        #expect(ran.output == "2\n1\n0\n0\n2\n0\n", "\(ran.errors)")
    }

    @Test("-o never follows or replaces a link, and - is standard output")
    func outputs() async throws {
        let ran = try await bash(
            Self.prepare + """
                echo old > old; ln -s old link; ln -s nowhere dangling; ln -s /dev/stdout std
                for target in link dangling std /dev/stdout /dev/null; do
                    for force in '' --force; do try encrypt --key-from file:k -i m -o $target $force; done
                done
                cat old; readlink link dangling std; test -c /dev/null && echo device; ls nowhere 2> /dev/null
                encrypt --key-from file:k -i m -o - | decrypt --key-from file:k -o - | cmp - m; echo $?; ls ./- 2> /dev/null
                """)
        let codes = String(repeating: "2\n", count: 10)
        #expect(ran.output == codes + "old\nold\nnowhere\n/dev/stdout\ndevice\n0\n", "\(ran.errors)")
        #expect(!ran.errors.contains("--force"))
    }

    @Test("with --json a file that was written is told of; data on standard output stands alone")
    func documents() async throws {
        let ran = try await bash(
            Self.prepare + """
                omvault --json crypto encrypt --key-from file:k -i m -o c
                omvault --json crypto decrypt --key-from file:k -i c -o p
                omvault -q --json crypto encrypt --alg aes-256-cbc --key-from file:k -i m -o d
                omvault -q --json crypto decrypt --alg aes-256-cbc --key-from file:k -i d -o q
                omvault --json crypto decrypt --key-from file:k -i c | cmp - m; cmp m p; cmp m q
                stat -c %s c p d q
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 8, "\(ran.output)\(ran.errors)")
        for (line, size) in zip(lines.prefix(4), lines.suffix(4)) {
            let document = try Ran.json(line)
            #expect(document["bytes"] as? Int == Int(size))
            #expect(document["schema"] as? String == "omvault/1")
        }
        #expect(try Ran.json(lines[0])["file"] as? String == "c")
    }
}
