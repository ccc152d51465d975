import OMInterchange
import Testing

@Suite("Files of the form of .netrc") struct NetrcReaderTests {
    @Test("machines, the default, quotes, comments and macros are read")
    func whole() throws {
        let text = """
            # my machines
            machine a.example login ada password #tulip account staff
            machine b.example
                login eve
                password "a \\"b\\" \\\\"
            macdef init
            cd /x

            default login anonymous password x@y
            """
        let read = try ForeignSamples.read(text)
        #expect(
            read.lines == [
                "a.example | (login) | username=ada | password!=#tulip | other account!=staff",
                "b.example | (login) | username=eve | password!=a \"b\" \\",
                "default | (login) | username=anonymous | password!=x@y",
            ])
        #expect(read.summary.losses == [.member("macdef")])
    }

    @Test("a macro ends with an empty line, whatever its line ends are, and a port is kept")
    func macros() throws {
        for end in ["\n", "\r\n", " \t\n"] {
            let read = try ForeignSamples.read(
                "macdef init\(end)cd /x\(end)\(end)machine a port 8080 password tulip\(end)", as: .netrc)
            #expect(read.lines == ["a | (login) | other port=8080 | password!=tulip"], "\(end.debugDescription)")
        }
    }

    @Test("a word that is no keyword, and a file that ends early, are refused without a value")
    func refusals() {
        #expect(
            ForeignSamples.error("machine a\nlogin ada tulip", as: .netrc) == .damaged("line 2 has a word that is no keyword"))
        #expect(ForeignSamples.error("machine a password", as: .netrc) == .damaged("the file ends behind password"))
        #expect(ForeignSamples.error("machine a password \"x", as: .netrc) == .damaged("line 1 has a quote without an end"))
        #expect(ForeignSamples.error("login a password b", as: .netrc) == .otherFormat)
    }

    @Test("the first bytes tell the format")
    func recognised() throws {
        func format(_ bytes: [UInt8]) -> ForeignFormat? { try? ForeignFormat.recognised(in: bytes.span) }
        #expect(format(Array("\u{FEFF} {\"items\":[]}".utf8)) == .bitwarden)
        #expect(format(Array("# x\n\nmachine a".utf8)) == .netrc && format(Array("default login x".utf8)) == .netrc)
        #expect(format(Array("# x\nexport A_1=b,c".utf8)) == .env && format(Array("A=".utf8)) == .env)
        #expect(format(Array("<?xml version".utf8)) == .keePassXML)
        #expect(format([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0, 0, 4, 0]) == .kdbx)
        #expect(format(Array("PK\u{3}\u{4}".utf8)) == .onePassword)
        #expect(format(Array("name;password".utf8)) == .csv && format(Array("a\tb".utf8)) == .csv)
        for bytes in [[], Array("\n\n".utf8), Array("hello".utf8), Array("=x".utf8), Array("1=x".utf8)] {
            #expect(throws: InterchangeError.otherFormat) { try ForeignFormat.recognised(in: bytes.span) }
        }
    }
}
