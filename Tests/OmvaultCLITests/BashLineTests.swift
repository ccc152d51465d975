import OMSecrets
import Testing

@testable import omvault_full

@Suite("A line of bash up to the cursor") struct BashLineTests {
    private static let breaks = " \t\n\"'><=;|&(:"

    private static func line(_ text: String) -> BashLine { BashLine(Array(text.utf8).span, breaks: breaks) }

    @Test(
        "nothing of what the line reads from or writes to is kept, wherever it is and however it is quoted",
        arguments: [
            "omvault get <<< s3cret x", "omvault get <<<s3cret x", "omvault get <<< \"s3cret\" x", "omvault get <<<'s3cret' x",
            "omvault get 2> s3cret x", "omvault get &>s3cret x", "omvault get <<< s3c\\ ret x",
            "omvault get <<< s3cret> s3cret x",
        ])
    func dropped(text: String) {
        let line = Self.line(text)
        #expect(line.words == ["get", "x"] && !line.isFile)
        #expect(!String(reflecting: line).contains("s3c"))
    }

    @Test("what is typed of a file is not kept either")
    func file() {
        let line = Self.line("omvault get x <<< s3cr")
        #expect(line.words == ["get", "x", ""] && line.isFile)
    }

    @Test("a word is read as bash reads it, also beyond ASCII")
    func words() {
        #expect(Self.line("omvault get 'a b' \"c\\$d\" e\\ f über日本").words == ["get", "a b", "c$d", "e f", "über日本"])
        let line = Self.line("omvault get \"ü\"=日")
        #expect(line.words == ["get", "ü=日"] && line.place.kept == 2)
    }
}
