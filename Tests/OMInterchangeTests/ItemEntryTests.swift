// Items as entries of other programs, and back: EntryFitter makes the same item of them.

import OMItems
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMInterchange

@Suite("Items as entries of other programs") struct ItemEntryTests {
    private static func entry(
        _ name: String, type: ItemType? = .login, tags: [String] = [], expires: Int64? = nil, _ values: [(String, [UInt8], Bool)]
    ) throws -> ForeignEntry {
        let fields = try values.map { name, value, isShown in
            Item.Field(
                name: try FieldName(name), count: value.count, shownValue: isShown ? String(decoding: value, as: UTF8.self) : nil)
        }
        let details = ItemDetails(type: type, tags: try tags.map { try ItemTag($0) }, expires: expires)
        let item = Item(
            name: try ItemName(name), level: .whenUnlocked, id: [UInt8](repeating: 1, count: 16), revision: 3, created: 1000,
            modified: 2000, details: details, fields: fields)
        var entry = ForeignEntry(of: item)
        for (field, value) in zip(fields, values) { entry.add(field, SecretBytes(copying: value.1)) }
        return entry
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static let login: [(String, [UInt8], Bool)] = [
        ("username", bytes("ada"), true), ("password", bytes("tulip, \"rose\"\n"), false),
        ("url", bytes("https://a.example"), true),
        ("url-2", bytes("https://b.example"), true), ("PIN", bytes("1234"), false), ("email", bytes("a@b.example"), true),
        ("otp", bytes("otpauth://totp/x:ada?secret=JBSWY3DPEHPK3PXP&issuer=x"), false), ("photo", [0xFF, 0, 1], false),
    ]

    /// The one item that an import makes of an entry.
    private static func back(_ entry: ForeignEntry) -> FittedItem {
        var fitter = EntryFitter(prefix: "", fallback: "entry", tags: [])
        return fitter.items(for: entry)[0]
    }

    @Test("a name's parts are folders and the title, and a name with an empty part is the title alone")
    func names() throws {
        let plain = try Self.entry("work/mail/ada", [])
        #expect(plain.folders == ["work", "mail"] && plain.title == "ada")
        for name in ["a//b", "/a", "a/"] {
            let entry = try Self.entry(name, [])
            #expect(entry.folders.isEmpty && entry.title == name)
        }
        #expect((plain.created, plain.modified) == (1000, 2000))
    }

    @Test("each field has its role by its name, and every role but a further address once")
    func roles() throws {
        let entry = try Self.entry("a", Self.login)
        #expect(entry.fields.map(\.role) == [.username, .password, .url, .url, .other, .email, .otp, .attachment])
        #expect(entry.fields.map(\.isConcealed) == [false, true, false, false, true, false, true, true])
        let odd = try Self.entry("a", [("otp", Self.bytes("JBSWY3DPEHPK3PXP"), false), ("url-x", [], true)])
        #expect(odd.fields.map(\.role) == [.otp, .other])
        #expect(odd.fields[0].value.withBytes { $0.starts(with: Self.bytes("otpauth://totp/")) })
        let wrong = try Self.entry("a", [("otp", Self.bytes("no secret!"), false)])
        #expect(wrong.fields[0].role == .other && wrong.fields[0].isConcealed)
    }

    @Test("an item that went out as KDBX comes back the same: name, type, tags, expiry, fields, and what is shown")
    func kdbx() throws {
        let entry = try Self.entry("work/ada", tags: ["a", "b c"], expires: 2_000_000_000, Self.login)
        let key = ForeignKey(password: SecretBytes(copying: Self.bytes("rose")))
        let file = try KDBXWriter.write(unstretched: [entry], key: key, now: 3000)
        #expect(file.changes.isEmpty)
        let read = try KDBXReader.read(file.bytes.span, key: key)
        let item = Self.back(read.entries[0])
        #expect(item.name.text == "work/ada" && item.type == .login && item.expires == 2_000_000_000)
        #expect(item.tags.map(\.text).sorted() == ["a", "b c"] && item.losses.isEmpty && item.changes.isEmpty)
        for (name, value, isShown) in Self.login {
            let field = item.fields.first { $0.name.text == name }
            #expect(field?.isShown == isShown, "\(name)")
            #expect(field?.field.value.isEqual(to: SecretBytes(copying: value)) == true, "\(name)")
        }
        #expect(item.fields.count == Self.login.count && read.entries[0].created == 1000 && read.entries[0].modified == 2000)
    }

    @Test("CSV comes back with each text as it was, and says what no cell holds")
    func csv() throws {
        let entries = [
            try Self.entry("work/ada", tags: ["a", "b c"], expires: 5, Self.login),
            try Self.entry("x\\y/ =1", type: .note, [("notes", Self.bytes("a;b\r\nc"), false), ("PIN", [], false)]),
        ]
        let writer = CSVWriter(entries)
        let losses = writer.losses
        #expect(losses[0] == [.attachment("photo"), .time("expires")])
        #expect(losses[1] == [.member("the empty field \"PIN\"")])
        let reader = try ForeignReader(writer.finish(), as: .csv)
        var read: [ForeignEntry] = []
        _ = try reader.read(with: ForeignKey(password: nil), variables: { _ in ForeignEntry(title: "") }) { read.append($0) }
        let item = Self.back(read[0])
        #expect(item.name.text == "work/ada" && item.type == .login && item.tags.map(\.text).sorted() == ["a", "b c"])
        for (name, value, _) in Self.login where name != "photo" {
            let field = item.fields.first { $0.name.text == name }
            #expect(field?.field.value.isEqual(to: SecretBytes(copying: value)) == true, "\(name)")
        }
        #expect(item.fields.count == Self.login.count - 1)
        let note = Self.back(read[1])
        #expect(note.name.text == "x\\y/ =1" && note.type == .note && note.fields.count == 1)
        let isSame = note.fields[0].field.value.isEqual(to: SecretBytes(copying: Self.bytes("a;b\r\nc")))
        #expect(isSame)
    }

    @Test("CSV has as many columns as its reader takes, and names each field that has none")
    func columns() throws {
        let entries = try (0..<3).map { entry in
            try Self.entry("e\(entry)", (0..<100).map { ("f\(entry)-\($0)", Self.bytes("v"), false) })
        }
        let writer = CSVWriter(entries)
        let losses = writer.losses
        #expect(losses.map(\.count) == [0, 0, 54])
        let reader = try ForeignReader(writer.finish(), as: .csv)
        var counts: [Int] = []
        _ = try reader.read(with: ForeignKey(password: nil), variables: { _ in ForeignEntry(title: "") }) {
            // The type is a field there, unless it is a login or a note.
            counts.append($0.fields.count)
        }
        #expect(counts == [100, 100, 46])
    }
}
