// JSON of every character there is, read by other programs.

import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import omvault

@Suite("Every character as JSON") struct JSONScalarTests {
    private func json(_ text: String) -> String {
        var document = JSONDocument(schema: nil)
        document.field("s", .text(text))
        return document.finish().withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test(
        "a character above U+FFFF that a terminal would obey is a surrogate pair",
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

    @Test("a field of such characters is read back from --json by Python, revealed and alone, and as a name")
    func command() async throws {
        let ran = try await bash(
            """
            set -e
            printf password > password
            export OMVAULT_PASSWORD_FROM=file:password
            omvault -q init --no-recovery --kdf-mem 8 --kdf-time 1
            # U+E0067, U+1D173, and the flag of England.
            printf '\\xF3\\xA0\\x81\\xA7\\xF0\\x9D\\x85\\xB3\\xF0\\x9F\\x8F\\xB4\\xF3\\xA0\\x81\\xA7\\xF3\\xA0\\x81\\xBF' > value
            name=$(printf 'flag \\xF3\\xA0\\x81\\xA7')
            omvault -q add "$name" --field x=file:value
            omvault get "$name" --reveal --json > item.json
            omvault get "$name:x" --json > field.json
            omvault ls --json > list.json
            python3 - "$name" <<'END'
            import json, sys
            value, name = open("value", encoding="utf-8").read(), sys.argv[1]
            item, field, items = (json.load(open(f"{n}.json")) for n in ("item", "field", "list"))
            def find(tree, wanted):
                if isinstance(tree, dict): return any(find(v, wanted) for v in tree.values())
                if isinstance(tree, list): return any(find(v, wanted) for v in tree)
                return tree == wanted
            print(find(item, value), find(item, name), find(field, value), find(items, name))
            END
            """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "True True True True\n", "\(ran.output)\(ran.errors)")
    }
}
