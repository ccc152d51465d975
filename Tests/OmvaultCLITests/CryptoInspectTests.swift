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

    @Test("what the format does not allow is refused, and options for key files are")
    func refusals() async throws {
        let ran = try await bash(
            Self.prepare + """
                patch() { cp c1 x; printf "$2" | dd of=x bs=1 seek="$1" conv=notrunc status=none; code omvault crypto inspect --in x; }
                patch 8 '\\x02'; cat told; patch 10 '\\x04'; patch 48 '\\x01'
                # The header and its commitment are 106 bytes; an empty chunk is none beside another.
                for count in 45 121 122 $((106 + 65552 + 16)); do head -c $count c1 > x; code omvault crypto inspect --in x; done
                head -c 121 c1 | code omvault crypto inspect --in -
                code omvault crypto inspect --in c1 --key-password-from file:pw
                head -c 7 c1 > x; code omvault crypto inspect --in x
                """)
        #expect(
            ran.output == """
                4
                omvault: error: the file has format 2, which this omvault does not know
                omvault: hint: a later omvault wrote the file; update omvault
                omvault: sdk: ORAIDMMOBILE-10527
                30
                30
                30
                30
                0
                30
                30
                2
                30

                """, "\(ran)")
    }
}
