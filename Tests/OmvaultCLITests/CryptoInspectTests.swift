import TestSupport
import Testing

/// `crypto inspect` of damaged containers. The transcript file-encryption.md shows what it prints of good ones.
@Suite("crypto inspect of a container") struct CryptoInspectTests {
    private static let prepare = """
        set -e
        head -c 32 /dev/urandom > k; printf 'correct horse' > pw; head -c 150000 /dev/urandom > m
        omvault crypto encrypt --password-from file:pw --kdf-mem 8 --kdf-time 2 -i m -o c1
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }

        """

    @Test("inspect refuses what the container's format does not allow, and options for key files")
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
