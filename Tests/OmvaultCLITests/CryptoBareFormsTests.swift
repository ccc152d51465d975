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
}
