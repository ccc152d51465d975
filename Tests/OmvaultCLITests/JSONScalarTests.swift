// JSON of each Unicode character, read by another parser. What Python reads is in Tests/Transcripts/values.md.

import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Every character as JSON") struct JSONScalarTests {
    private func json(_ text: String) -> String {
        var document = JSONDocument(schema: nil)
        document.field("s", .text(text))
        return document.finish().withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test(
        "a character above U+FFFF that a terminal would obey is written as a surrogate pair",
        arguments: [
            ("\u{E0067}", #"\udb40\udc67"#), ("\u{1D173}", #"\ud834\udd73"#), ("\u{E0001}", #"\udb40\udc01"#),
            ("\u{110BD}", #"\ud804\udcbd"#), ("\u{10FFFF}", "\u{10FFFF}"),
        ])
    func pairs(text: String, escaped: String) async {
        #expect(json(text) == "{\"s\":\"\(escaped)\"}\n")
    }

    @Test("every Unicode scalar is written so that another parser reads it back")
    func everyScalar() async throws {
        // In documents of 4096 each: one for each scalar takes a minute.
        for start in stride(from: UInt32(0), through: 0x10FFFF, by: 4096) {
            var text = ""
            text.unicodeScalars += (start..<start + 4096).compactMap { Unicode.Scalar($0) }
            let read = try Ran.json(json(text))["s"] as? String
            #expect(read.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars), "from \(start)")
        }
    }
}
