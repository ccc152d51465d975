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

    @Test("a value that XML cannot have is protected, and a value that is not UTF-8 is an attachment")
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

    @Test("a one-time password goes where its program finds it: timed ones to otp, counters to the fields of KeePass")
    func oneTimePasswords() throws {
        func written(_ fields: [ForeignField]) throws -> (names: [String], changes: [ForeignChange.Kind], read: ForeignEntry) {
            var entry = ForeignEntry(title: "t")
            entry.fields = fields
            let plan = try KeePassPlan([entry], .standard)
            let read = try KeePassSamples.read(KeePassSamples.write([entry]).bytes).entries[0]
            return (plan.root.entries[0].texts.map(\.name), plan.changes.map(\.kind), read)
        }
        let address = "otpauth://totp/t?secret=GEZDGNBVGY3TQOJQ"
        // omvault cannot read it, and KeePassXC can.
        let steam = try written([Self.field("otp", .other, address + "&encoder=steam", isConcealed: true)])
        #expect(steam.names == ["otp"] && steam.changes.isEmpty && steam.read.values(.other) == [address + "&encoder=steam"])
        let hotp = "otpauth://hotp/t?secret=GEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&counter=7"
        let counted = try written([
            Self.field("otp", .otp, hotp), Self.field("login", .otp, address), Self.field("c", .otp, hotp),
        ])
        #expect(counted.names == ["HmacOtp-Secret-Base32", "HmacOtp-Counter", "otp", "c"])
        #expect(counted.changes == [.renamed("otp", to: "HmacOtp-Secret-Base32")])
        #expect(counted.read.values(.otp).contains { $0.contains("counter=7") } && counted.read.values(.otp).contains(address))
        // KeePass has no place for such a counter, and `otp` would be taken for a timed one.
        let long = try written([Self.field("otp", .otp, hotp.replacing("digits=6", with: "digits=8"))])
        #expect(long.names == ["otp (2)"] && long.changes == [.renamed("otp", to: "otp (2)")])
    }

    @Test("names that differ in their bytes only are two names")
    func spellings() throws {
        let names = ["\u{E9}", "e\u{301}"]
        let entries = names.map { name in
            var entry = ForeignEntry(title: "t")
            entry.folders = [name]
            entry.fields = names.map { Self.field($0, .other, "v") }
            return entry
        }
        let file = try KeePassSamples.write(entries)
        let read = try KeePassSamples.read(file.bytes).entries
        let bytes = names.map { Array($0.utf8) }
        #expect(read.map { Array($0.folders[0].utf8) } == bytes && file.changes.isEmpty)
        #expect(read[0].fields.map { Array($0.name.utf8) } == bytes)
    }

    @Test("more than the reader takes is not written")
    func limits() throws {
        var entry = ForeignEntry(title: "t")
        entry.tags = ["a"]
        entry.fields = [Self.field("f", .attachment, "1234"), Self.field("x", .other, "1")]
        func write(_ change: (inout KeePassLimits) -> Void) throws -> ForeignFile {
            var limits = KeePassLimits()
            change(&limits)
            return try KDBXWriter.write(
                [entry, entry], key: KeePassSamples.key(), now: 0, cost: KeePassSamples.cost, limits: limits)
        }
        let file = try write { ($0.entries, $0.fields, $0.attachmentBytes) = (2, 10, 8) }
        var limits = KeePassLimits()
        (limits.entries, limits.fields, limits.attachmentBytes) = (2, 10, 8)
        #expect(try KDBXReader.read(file.bytes.span, key: KeePassSamples.key(), limits: limits).entries.count == 2)
        #expect(throws: InterchangeError.tooMuch("entries")) { try write { $0.entries = 1 } }
        #expect(throws: InterchangeError.tooMuch("fields")) { try write { $0.fields = 9 } }
        #expect(throws: InterchangeError.tooMuch("bytes of attachments")) { try write { $0.attachmentBytes = 7 } }
        #expect(throws: InterchangeError.tooMuch("bytes of XML")) { try write { $0.unpackedBytes = 100 } }
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
