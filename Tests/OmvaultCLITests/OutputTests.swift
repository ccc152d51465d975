import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("What is printed") struct OutputTests {
    @Test("a JSON document is read back with the same texts, lists and secrets, of any bytes")
    func document() throws {
        var document = JSONDocument()
        document.field("text", .text("quote \" slash \\ tab \t line \n escape \u{1B} bidi \u{202E} é 🔑"))
        document.field("list", .list([.number(-3), .flag(true), .null, .list([])]))
        document.secret("password", SecretBytes(copying: Array("p\"\\\u{0}\u{85}é".utf8)))
        document.secret("key", SecretBytes(copying: [0xFF, 0xFE]))
        document.secret("empty", SecretBytes(copying: []))
        document.concealed("pin", count: 4)
        document.objects("items", ["a", "b"]) { name, item in item.field("name", .text(name)) }
        document.objects("none", [String]()) { _, _ in }
        document.object("nothing") { _ in }
        let text = document.finish().withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        #expect(String(text.dropLast()).shown == text.dropLast())

        let json = try Ran.json(text)
        #expect(json["schema"] as? String == "omvault/1")
        #expect(json["text"] as? String == "quote \" slash \\ tab \t line \n escape \u{1B} bidi \u{202E} é 🔑")
        #expect(json["list"] as? NSArray == [-3, true, NSNull(), []] as NSArray)
        #expect(json["password"] as? String == "p\"\\\u{0}\u{85}é")
        #expect((json["key"] as? [String: String])?["base64"] == "//4=")
        #expect(json["empty"] as? String == "")
        #expect(json["pin"] as? NSDictionary == ["concealed": true, "len": 4] as NSDictionary)
        #expect(json["items"] as? NSArray == [["name": "a"], ["name": "b"]] as NSArray)
        #expect(json["none"] as? NSArray == [] as NSArray)
        #expect(json["nothing"] as? NSDictionary == [:] as NSDictionary)
    }

    @Test("a secret of any single byte is read back from JSON")
    func everyByte() throws {
        for byte in UInt8.min...UInt8.max {
            var document = JSONDocument()
            document.secret("s", SecretBytes(copying: [byte]))
            let text = document.finish().withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
            let json = try Ran.json(text)
            let value =
                (json["s"] as? String).map { Array($0.utf8) }
                ?? (json["s"] as? [String: String])?["base64"].flatMap { Data(base64Encoded: $0) }.map { Array($0) }
            #expect(value == [byte])
        }
    }

    @Test(
        "text from outside cannot move the cursor, change the title or turn the line around",
        arguments: [
            ("plain", "plain"), ("é 🔑 ü", "é 🔑 ü"), ("a\tb\nc", #"a\tb\nc"#), ("\u{1B}[2J", #"\u{1b}[2J"#),
            ("\u{7F}\u{9B}31m", #"\u{7f}\u{9b}31m"#), ("\u{202E}abc", #"\u{202e}abc"#), ("a\u{2028}b", #"a\u{2028}b"#),
        ])
    func shown(text: String, expected: String) {
        #expect(text.shown == expected)
    }

    @Test("csv quotes as RFC 4180 says, ends records with CRLF, and makes a formula text that can be read back")
    func csv() {
        let cells = ["a,b", "a\"b", "a\nb", "é", "", "-", "=1", "+1", "-1", "@x", "'x", "\t=1"]
        let text = RowText(rows: cells.map { [$0, "x"] }, header: ["NAME", Column("OTHER THING")])
        #expect(
            text.csv(withHeader: true).split(separator: "\r\n").map(String.init) == [
                "name,other_thing", "\"a,b\",x", "\"a\"\"b\",x", "a\\nb,x", "é,x", ",x", "-,x", "'=1,x", "'+1,x", "'-1,x",
                "'@x,x",
                "''x,x", "\\t=1,x",
            ])
        #expect(text.csv(withHeader: false).hasPrefix("\"a,b\",x\r\n") && text.csv(withHeader: false).hasSuffix("x\r\n"))
    }

    @Test("a row of nul ends with a NUL byte, has its text as it is, and no other NUL byte")
    func nul() {
        let text = RowText(rows: [["a\nb", "c\u{1B}"], ["d\0e", "f"]], header: ["A", "B"])
        #expect(text.nul == "a\nb\tc\u{1B}\0d\\u{0}e\tf\0")
        #expect(text.plain == "a\\nb\tc\\u{1b}\nd\\u{0}e\tf\n")
    }

    @Test("a secret on a terminal is printable or refused; in a pipe it is exact")
    func secrets() async {
        await #expect(processExitsWith: .success) {
            let output = Output(format: .plain, isQuiet: true)
            let terminal = try PseudoTerminal.controllingThisProcess()
            let screen = open("/dev/tty", O_RDWR)
            dup2(screen, STDOUT_FILENO)
            dup2(screen, STDERR_FILENO)
            try output.writeSecret(SecretBytes(copying: Array("two\nlines é".utf8)))
            for bad in ["\u{1B}]0;owned\u{7}", "\r", "\u{9B}31m", "\u{202E}"] {
                do {
                    try output.writeSecret(SecretBytes(copying: Array(bad.utf8)))
                    _exit(1)
                } catch let failure as Failure where failure.status == .usage {}
            }
            terminal.playBeside([("two\r\nlines é\r\n", "")], echo: true, last: { _exit(EXIT_SUCCESS) })
            while true { pause() }
        }
    }
}
