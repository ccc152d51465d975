import Foundation
import TestSupport
import Testing

/// The vectors that are built into the command, and the progress that it shows. The transcript vectors.md shows the rest.
@Suite struct VectorsTests {
    @Test("an installed omvault runs its built-in vectors, which are those of the repository, and says so")
    func builtIn() async throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path
        let ran = try await bash(
            """
            set -e
            mkdir bin empty; cp "$(command -v omvault)" "$(command -v omvault-full)" bin/; cd empty
            ../bin/omvault vectors verify > built 2> told; cat told
            sed -n 's|^built-in/\\(.*\\): .*|\\1|p' built > names; wc -l < names
            ../bin/omvault vectors verify $(sed 's|^|\(repository)/vectors/|' names) > read
            diff <(sed 's|^built-in/||' built) <(sed 's|^\(repository)/vectors/||' read) && echo same
            ../bin/omvault -q vectors list 2>&1 | grep -c '^aead AES-GCM	'
            ../bin/omvault -q vectors verify --control | tail -n 1 | grep -c ' caught, 0 missed$'
            mkdir built-in; printf x > built-in/digest-sha.expected.json
            ../bin/omvault -q vectors verify | cmp - built && echo same
            """)
        #expect(ran.status == 0)
        #expect(
            ran.output == """
                omvault: there is no folder "vectors" here: these are the 40 files that are built into omvault
                40
                same
                1
                1
                same

                """, "\(ran)")
    }

    @Test("at a terminal the file being run is shown with its number, and removed again")
    func progress() async throws {
        let files = """
            printf '[L = 20]\\nLen = 24\\nMsg = 616263\\nMD = a9993e364706816aba3e25717850c26c9cd0d89d\\n' > right.rsp
            printf 'words\\n' > words.txt

            """
        let ran = try await atTerminal(files + "omvault vectors verify right.rsp words.txt")
        #expect(ran.output.contains("[1/2] right.rsp"))
        #expect(ran.output.contains("[2/2] words.txt\r\u{1B}[K"))
        let quiet = try await atTerminal(files + "omvault vectors verify --quiet right.rsp words.txt")
        #expect(!quiet.output.contains("[1/2]"))
    }
}
