// What the writer does with entries that KeePass cannot take as they are.

import OMCrypto
import OMSecrets
import Testing

@testable import OMInterchange

@Suite("Writing KDBX") struct KDBXWriterTests {
    private static func field(
        _ name: String, _ role: ForeignField.Role, _ value: String, isConcealed: Bool = false
    ) -> ForeignField { ForeignField(name, role, isConcealed: isConcealed, secret(value)) }

    @Test("names that KeePass cannot have twice, or has itself, get numbers, and each change is said")
    func names() throws {
        var entry = ForeignEntry(title: "t")
        entry.tags = ["a;b", "c"]
        entry.folders = ["a\u{1}b"]
        entry.fields = [
            Self.field("user", .username, "1"), Self.field("login", .username, "2"), Self.field("Title", .other, "3"),
            Self.field("x", .other, "4"), Self.field("x", .other, "5"), Self.field("", .other, "6"),
            Self.field("", .password, "7"), Self.field("", .password, "8"), Self.field("e", .email, "9"),
            Self.field("f", .attachment, "10"), Self.field("f", .attachment, "11"), Self.field("", .url, "12"),
            Self.field("", .url, "13"), Self.field("", .url, "14"),
        ]
        let file = try KeePassSamples.write([entry])
        let read = try KeePassSamples.read(file.bytes).entries[0]
        #expect(
            read.fields.map(\.name) == [
                "UserName", "login", "Title (2)", "x", "x (2)", "field", "Password", "Password (2)", "e", "URL", "KP2A_URL",
                "KP2A_URL_1", "f", "f (2)",
            ])
        #expect(
            read.fields.map { text($0.value) } == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "12", "13", "14", "10", "11"])
        #expect(read.title == "t" && read.folders == ["a\u{FFFD}b"] && read.tags == ["a\u{FFFD}b", "c"])
        #expect(
            file.changes.map(\.kind) == [
                .renamed("a\u{1}b", to: "a\u{FFFD}b"), .renamed("a;b", to: "a\u{FFFD}b"), .renamed("Title", to: "Title (2)"),
                .renamed("x", to: "x (2)"), .renamed("Password", to: "Password (2)"), .renamed("f", to: "f (2)"),
            ])
    }

    @Test("a value that XML cannot have is protected, and one that is not UTF-8 is an attachment")
    func values() throws {
        var entry = ForeignEntry(title: "bell \u{7}")
        entry.fields = [
            Self.field("Notes", .notes, "a\r\nb"), Self.field("nul", .other, "\u{0}"), Self.field("fine", .other, "a\n\tb"),
            Self.field("FFFF", .other, "\u{FFFF}"),
            ForeignField("raw", .other, isConcealed: false, SecretBytes(copying: [0xFF, 0])),
        ]
        let file = try KeePassSamples.write([entry])
        let read = try KeePassSamples.read(file.bytes).entries[0]
        #expect(read.title == entry.title && read.fields.map(\.name) == ["Notes", "nul", "fine", "FFFF", "raw"])
        #expect(read.fields.map(\.isConcealed) == [true, true, false, true, true] && read.fields[4].role == .attachment)
        for (one, other) in zip(read.fields, entry.fields) {
            let isSame = one.value.isEqual(to: other.value)
            #expect(isSame, "\(one.name)")
        }
        #expect(
            file.changes.map(\.kind)
                == [.concealed("Title"), .concealed("Notes"), .concealed("nul"), .concealed("FFFF"), .attached("raw")])
    }

    @Test("folders deeper than the reader's limit are one folder")
    func deep() throws {
        var entry = ForeignEntry(title: "t")
        entry.folders = (1...200).map { "\($0)" }
        let file = try KeePassSamples.write([entry])
        let read = try KeePassSamples.read(file.bytes).entries[0]
        #expect(read.folders.count == 90 && read.folders.joined(separator: "/") == entry.folders.joined(separator: "/"))
        #expect(file.changes.count == 1)
    }

    @Test("two files of the same entries have nothing in common but their length, and no value is in them")
    func fresh() throws {
        let one = try KeePassSamples.write(KeePassSamples.entries()).bytes,
            other = try KeePassSamples.write(KeePassSamples.entries()).bytes
        let header = try KDBXHeader(reading: one.span)
        let second = try KDBXHeader(reading: other.span)
        #expect(header.seed != second.seed && header.iv != second.iv && header.seed.count == 32)
        guard case .argon2(_, _, _, let salt, _, _) = header.derivation,
            case .argon2(_, _, _, let salt2, _, _) = second.derivation
        else { return #expect(Bool(false)) }
        #expect(salt != salt2 && salt.count == 32)
        #expect(one[header.count...].firstRange(of: Array("alice".utf8)) == nil)
    }

    @Test("a file needs a key")
    func noKey() {
        #expect(throws: InterchangeError.needsPassword) { try KDBXWriter.write([], key: ForeignKey(password: nil), now: 0) }
    }

    @Test("the usual cost is within the reader's limits, and a key file alone is enough")
    func usual() throws {
        let key = ForeignKey(password: nil, keyFile: secret("any file"))
        let file = try KDBXWriter.write([ForeignEntry(title: "t")], key: key, now: 0)
        #expect(try KDBXReader.read(file.bytes.span, key: key).entries.map(\.title) == ["t"])
        let header = try KDBXHeader(reading: file.bytes.span)
        guard case .argon2(.argon2id, .v19, let cost, _, _, _) = header.derivation else { return #expect(Bool(false)) }
        #expect((cost.memoryKiB, cost.passes, cost.lanes) == (64 << 10, 10, 2))
    }
}
