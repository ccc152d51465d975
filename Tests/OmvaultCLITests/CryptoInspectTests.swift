import TestSupport
import Testing

/// `crypto inspect` of containers, through the real command.
@Suite("crypto inspect of a container") struct CryptoInspectTests {
    private static let prepare = """
        set -e
        head -c 32 /dev/urandom > k; printf 'correct horse' > pw; head -c 150000 /dev/urandom > m
        omvault crypto encrypt --password-from file:pw --kdf-mem 8 --kdf-time 2 -i m -o c1
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }

        """

    @Test("it says the algorithm, what opens it, the cost of its password, its recipients and its sizes")
    func facts() async throws {
        let ran = try await bash(
            Self.prepare + """
                for who in ada bob; do
                    openssl genpkey -algorithm x25519 -out $who.pem; openssl pkey -in $who.pem -pubout -out $who.pub
                done
                omvault crypto encrypt --alg chacha20-poly1305 --key-from file:k < /dev/null > c2
                omvault crypto encrypt --recipient ada.pub --recipient bob.pub -i m -o c3
                omvault crypto inspect --in c1
                omvault crypto inspect --in - < c2 --json
                cat c3 | omvault crypto inspect --in - | tail -n 5
                """)
        #expect(
            ran.output == """
                format\tomvault container
                version\t1
                encrypted\tyes
                algorithm\taes-256-gcm
                opens_with\tpassword
                kdf\targon2id
                kdf_mem_kib\t8192
                kdf_time\t2
                kdf_lanes\t1
                chunk_bytes\t65536
                plaintext_bytes\t150000
                {"schema":"omvault/1","format":"omvault container","version":1,"encrypted":true,"algorithm":"chacha20-poly1305",\
                "opens_with":"key","chunk_bytes":65536,"plaintext_bytes":0}
                algorithm\taes-256-gcm
                opens_with\tprivate key
                recipients\t2
                chunk_bytes\t65536
                plaintext_bytes\t150000

                """, "\(ran)")
    }

    /// Two for each length: from a file and from a pipe.
    private static let lengths = "30 30 30 30 30 30 30 30 30 30 0 0 0 0 0 0 30 30 30 30 0 0"

    @Test("what the format does not allow is refused, and options for key files are")
    func refusals() async throws {
        let ran = try await bash(
            Self.prepare + """
                patch() { cp c1 x; printf "$2" | dd of=x bs=1 seek="$1" conv=notrunc status=none; code omvault crypto inspect --in x; }
                patch 8 '\\x02'; cat told; patch 8 '\\0'; patch 9 '\\x03'; patch 10 '\\x04'; patch 11 '\\x11'; patch 45 '\\x1d'
                patch 47 '\\x02'; patch 48 '\\x01'; patch 50 '\\0\\0\\0\\0'; patch 54 '\\0\\0\\0\\x11'
                whole=$(stat -c %s c1)
                for count in 8 45 60 106 121 122 123 $((106 + 65552)) $((106 + 65552 + 15)) $((106 + 65552 + 16)) $((106 + 65552 + 17)); do
                    head -c $count c1 > x; code omvault crypto inspect --in x; code omvault crypto inspect --in - < x
                done | tr '\\n' ' ' | sed 's/ $//'; echo
                code omvault crypto inspect --in c1 --key-password-from file:pw
                head -c 7 c1 > x; code omvault crypto inspect --in x
                """)
        #expect(
            ran.output == """
                4
                omvault: error: the file has format 2, which this omvault does not know
                omvault: hint: a later omvault wrote it; update this one
                30
                30
                30
                30
                30
                30
                30
                30
                30
                \(Self.lengths)
                2
                30

                """, "\(ran)")
    }
}
