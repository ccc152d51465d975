import OMItems
import OMSecrets
import Testing

@testable import OMInterchange

@Suite("The stores of pass and gopass") struct PassReaderTests {
    private static func packed(_ files: [(path: String, content: [UInt8])]) throws -> [UInt8] {
        var pack = ForeignStore()
        for file in files { try pack.append(file.path, SecretBytes(copying: file.content)) }
        return pack.finish().withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    private static func read(_ bytes: [UInt8]) throws -> [ForeignEntry] {
        var entries: [ForeignEntry] = []
        _ = try PassReader.read(SecretBytes(copying: bytes)) { entries.append($0) }
        return entries
    }

    private static func line(_ content: String, _ path: String = "a/b") throws -> String {
        ForeignSamples.line(try read(packed([(path, Array(content.utf8))]))[0])
    }

    @Test("the first line is the password; lines with a name and a value are fields; all other text is notes, in its order")
    func lines() throws {
        #expect(try Self.line("tulip\n") == "a/b | (login) | password!=tulip")
        #expect(try Self.line("tulip", "x") == "x | (login) | password!=tulip")
        #expect(try Self.line(" tulip : x ") == "a/b | (login) | password!= tulip : x ")
        let whole = """
            tulip
            Login: ada

            URL:https://x.example/a?b
            e-mail:  ada@x
            Note of mine: five
            Call Bob: he said: maybe, or so
            http://y.example
            otpauth://totp/x?secret=MFRGG
            pin:7
            12:30 is the time
            This is a long sentence: with a colon
            empty:

            last

            """
        #expect(
            try Self.line(whole)
                == "a/b | (login) | password!=tulip | username=ada | url=https://x.example/a?b | email=ada@x | "
                + "other Note of mine!=five | other Call Bob!=he said: maybe, or so | otp!=otpauth://totp/x?secret=MFRGG | "
                + "notes!=http://y.example\npin:7\n12:30 is the time\nThis is a long sentence: with a colon\nempty:\n\nlast")
        #expect(try Self.line("\nuser: ada\nx\n") == "a/b | (login) | username=ada | notes!=x")
        #expect(try Self.line("\n\nx\ny\n") == "a/b | notes!=x\ny")
        #expect(try Self.line("otpauth://totp/x?secret=MFRGG\n") == "a/b | (totp) | otp!=otpauth://totp/x?secret=MFRGG")
        #expect(
            try Self.line("p\ntotp: MFRGG\notp: ask Bob\n")
                == "a/b | (login) | password!=p | otp!=otpauth://totp/?secret=MFRGG&algorithm=SHA1&digits=6&period=30 | "
                + "other otp!=ask Bob")
        #expect(try Self.line("") == "a/b")
        #expect(try Self.line("p\r\nuser: ada\r\n") == "a/b | (login) | password!=p | username=ada")
        #expect(try Self.line("p\r\nuser: ada\n") == "a/b | (login) | password!=p\r | username=ada")
        #expect(try Self.line("\r\nuser: ada\r\nx\r\ny\r\n") == "a/b | (login) | username=ada | notes!=x\r\ny")
        #expect(try Self.line("p\npin: 7 \n") == "a/b | (login) | password!=p | other pin!=7 ")
    }

    @Test("a text with lines like fields between other lines is in the notes as it is, and usual fields are copies of it")
    func texts() throws {
        let key =
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nabcd\n"
            + "-----END RSA PRIVATE KEY-----\n"
        #expect(try Self.line(key) == "a/b | (note) | notes!=\(key)")
        #expect(try Self.line("tulip\n" + key) == "a/b | (login) | password!=tulip | notes!=\(key)")
        let config = "clusters:\n- cluster:\n    server: x\nkind: Config\n\nusers:\n- name: ada\n"
        #expect(try Self.line("apiVersion: v1\n" + config) == "a/b | (login) | password!=apiVersion: v1 | notes!=\(config)")
        let prose = "ask Bob \nuser: ada\nCall him: at noon\notpauth://totp/x?secret=MFRGG\n"
        #expect(
            try Self.line("tulip\n" + prose)
                == "a/b | (login) | password!=tulip | username=ada | otp!=otpauth://totp/x?secret=MFRGG | notes!=\(prose)")
        let hosts = (0..<9000).map { "host\($0).example: 10.0.0.1\n" }.joined()
        #expect(try Self.line("tulip\n" + hosts) == "a/b | (login) | password!=tulip | notes!=\(hosts)")
    }

    @Test("gopass's YAML, its older form with headers, and the files that it keeps")
    func gopass() throws {
        #expect(
            try Self.line("tulip\n---\nuser: ada\nlist:\n  - a\n  - b\nport: 22\n")
                == "a/b | (login) | password!=tulip | username=ada | notes!=---\nuser: ada\nlist:\n  - a\n  - b\nport: 22\n")
        #expect(try Self.line("tulip\n---\nport: 22\n") == "a/b | (login) | password!=tulip | other port!=22")
        #expect(
            try Self.line("GOPASS-SECRET-1.0\nPassword: tulip\nUser: ada\n\nhello\nPassword: old\n")
                == "a/b | (login) | password!=tulip | username=ada | notes!=hello\nPassword: old")
        #expect(
            try Self.line("GOPASS-SECRET-1.0\r\nPassword: tulip\r\n\r\nPassword: old\r\n")
                == "a/b | (login) | password!=tulip | notes!=Password: old")
        #expect(try Self.line("aGVsbG8=\n", "a/b.b64") == "a/b | (file) | attachment content!=hello")
        #expect(try Self.line("no base64!\n", "a/b.b64") == "a/b.b64 | (login) | password!=no base64!")
        let file = "\nContent-Disposition: attachment; filename=\"x.bin\"\nContent-Transfer-Encoding: Base64\n\naGVs\nbG8=\n"
        #expect(try Self.line(file) == "a/b | (file) | attachment x.bin!=hello")
        let bytes: [UInt8] = [0xFF, 0, 10, 0xFE]
        let entry = try Self.read(Self.packed([("k", bytes)]))[0]
        #expect(entry.type == .file && entry.fields.map(\.name) == ["content"])
        let isSame = entry.fields[0].value.isEqual(to: SecretBytes(copying: bytes))
        #expect(isSame)
    }

    /// Every byte but blanks around a value, the name of a role, and empty lines at the ends of the notes.
    @Test("nothing of an entry is lost: each word of it is in a field, whatever its lines are")
    func whole() throws {
        var random = SystemRandomNumberGenerator()
        let parts = ["user: ", "x", ":", " ", "\n", "---\n", "otpauth://totp/", "url:", "GOPASS-SECRET-1.0\n", "  - ", "é", "\t"]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<40, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                .joined()
            let entry = try Self.read(Self.packed([("a", Array(text.utf8))]))[0]
            let fields = entry.fields.map { "\($0.name) \($0.role.rawValue) \(ForeignSamples.text($0.value))" }.joined(
                separator: "\n")
            for letter in ["x", "é"] {
                let wanted = text.count { String($0) == letter }
                #expect(fields.count { String($0) == letter } >= wanted, "\(text.debugDescription): \(fields.debugDescription)")
            }
        }
    }

    @Test("a packed form that is cut, or has more behind its end, is damaged")
    func damaged() throws {
        let whole = try Self.packed([("a/b", Array("tulip\nuser: ada\n".utf8)), ("c", [])])
        #expect(try Self.read(whole).map(\.title) == ["b", "c"])
        for count in whole.indices {
            let error = #expect(throws: InterchangeError.self) { try Self.read(Array(whole[..<count])) }
            #expect(error == (count < 8 ? .otherFormat : .damaged("its packed form")), "\(count)")
        }
        #expect(throws: InterchangeError.damaged("its packed form")) { try Self.read(whole + [1]) }
        #expect(throws: InterchangeError.tooMuch("bytes of a name")) {
            try Self.packed([(String(repeating: "x", count: 4097), [])])
        }
    }
}
