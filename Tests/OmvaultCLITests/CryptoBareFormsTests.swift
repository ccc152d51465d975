import TestSupport
import Testing

/// Bare ciphers at the limit of memory.
@Suite("crypto encrypt and decrypt, bare: the limit of memory") struct CryptoBareFormsTests {
    @Test("a message at the memory limit is encrypted and decrypted; a longer one is refused unread")
    func sizes() async throws {
        let ran = try await bash(
            """
            set -e
            head -c 32 /dev/urandom > k
            gcm() { omvault -q crypto "$@" --raw --alg aes-256-gcm --key-from file:k; }
            most=$((256 << 20)); truncate -s $most big; truncate -s $((most + 1)) over; truncate -s 4G huge
            refused 2 gcm encrypt -i over; grep -q '256 MiB' .refused
            gcm encrypt -i big -o c
            gcm decrypt -i c | cmp - big
            rm c
            refused 2 strace -qq -e trace=read -o log omvault -q crypto decrypt --raw --alg aes-256-gcm --key-from file:k -i huge
            # No page of the file was read.
            if grep '= 4096$' log; then exit 1; fi
            """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }
}
