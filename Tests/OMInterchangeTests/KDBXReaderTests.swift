// KDBX files, whole and broken.

import Foundation
import OMCrypto
import OMItems
import OMSecrets
import TestSupport
import Testing

@testable import OMInterchange

@Suite("Reading KDBX") struct KDBXReaderTests {
    @Test("a file that the writer made is read as the same entries", arguments: KDBXCipher.allCases)
    func roundTrip(cipher: KDBXCipher) throws {
        let entries = KeePassSamples.entries()
        let file = try KeePassSamples.write(entries, cipher: cipher)
        #expect(file.changes.isEmpty)
        let read = try KeePassSamples.read(file.bytes)
        #expect(read.losses.isEmpty && read.entries.allSatisfy { $0.losses.isEmpty })
        #expect(read.entries.map(\.title) == entries.map(\.title))
        #expect(read.entries.map(\.folders) == [[], ["Finance", "a/b"], ["old"]])
        #expect(read.entries.map(\.isTrashed) == [false, false, true])
        let full = read.entries[1]
        #expect((full.created, full.modified, full.expires) == (1_500_000_000, 1_600_000_000, 1_900_000_000))
        #expect(read.entries[0].created == 1_700_000_000 && read.entries[0].expires == nil)
        #expect(full.type == .login && full.tags == ["money", "two words"])
        for role in ForeignField.Role.allCases where role != .attachment {
            #expect(full.values(role) == entries[1].values(role), "\(role)")
        }
        #expect(full.fields.filter(\.isConcealed).map(\.name) == ["Password", "otp", "PIN", "key.bin", "empty.txt"])
        let attachments = full.fields.filter { $0.role == .attachment }
        #expect(attachments.map(\.name) == ["key.bin", "empty.txt"] && attachments.map { $0.value.count } == [256, 0])
        #expect(attachments[0].value.withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] == UInt8($0) } })
    }

    @Test("a wrong password, a missing key and another file are three errors")
    func keys() throws {
        let file = try KeePassSamples.write(KeePassSamples.entries()).bytes
        #expect(throws: InterchangeError.wrongKey) { try KDBXReader.read(file.span, key: ForeignKey(password: secret("x"))) }
        #expect(throws: InterchangeError.needsPassword) { try KDBXReader.read(file.span, key: ForeignKey(password: nil)) }
        #expect(throws: InterchangeError.otherFormat) { try KeePassSamples.read(Array("PK".utf8) + file) }
        #expect(throws: InterchangeError.otherFormat) { try KeePassSamples.read([]) }
        let keePass1: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5, 0, 0, 0, 0]
        let isKDBX = KDBXReader.isKDBX(keePass1.span)
        #expect(isKDBX)
        #expect(
            throws: InterchangeError.unsupported("a file of KeePass 1", remedy: "open it in KeePassXC, and save it as KDBX 4")
        ) { try KeePassSamples.read(keePass1) }
    }

    @Test("a file that is cut at any byte, or has one more, is refused")
    func cut() throws {
        let file = try KeePassSamples.write([ForeignEntry(title: "t")]).bytes
        for count in file.indices {
            #expect(throws: InterchangeError.self, "\(count)") { try KeePassSamples.read(Array(file[..<count])) }
        }
        #expect(throws: InterchangeError.damaged("its end, behind which there is more")) { try KeePassSamples.read(file + [0]) }
        let older = try OlderKDBX().file()
        for count in older.indices {
            #expect(throws: InterchangeError.self, "\(count)") { try KeePassSamples.read(Array(older[..<count])) }
        }
    }

    @Test("a file with any one byte changed is refused: a changed header is damage, and not a wrong key")
    func changed() throws {
        let file = try KeePassSamples.write([ForeignEntry(title: "t")]).bytes
        let header = try KDBXHeader(reading: file.span).count
        for index in file.indices {
            var other = file
            other[index] ^= 1
            let error = #expect(throws: InterchangeError.self, "\(index)") { try KeePassSamples.read(other) }
            if index >= header + 32, index < header + 64 { #expect(error == .wrongKey, "\(index)") }
            if index < header + 32 || index >= header + 64 { #expect(error != .wrongKey, "\(index)") }
        }
    }

    @Test("blocks that change places, or of which one is left out, are refused")
    func blocks() throws {
        var entry = ForeignEntry(title: "t")
        let noise = SecretBytes.random(3 << 20)
        entry.fields = [ForeignField("noise", .attachment, isConcealed: true, noise)]
        let file = try KeePassSamples.write([entry]).bytes
        var starts = [try KDBXHeader(reading: file.span).count + 64]
        while let start = starts.last, start < file.count {
            let length = UInt32(littleEndian: Array(file[start + 32..<start + 36])) ?? 0
            starts.append(start + 36 + Int(length))
        }
        try #require(starts.count > 4)
        let blocks = zip(starts, starts.dropFirst()).map { Array(file[$0..<$1]) }
        let head = Array(file[..<starts[0]])
        let fault = InterchangeError.damaged("the check value of a block")
        let isSame = try KeePassSamples.read(blocks.reduce(head, +)).entries[0].fields[0].value.isEqual(to: entry.fields[0].value)
        #expect(isSame)
        for order in [[1, 0, 2], [0, 2], [0, 0, 1, 2], [2, 1, 0]] {
            let others = order.map { blocks[$0] } + blocks[3...]
            #expect(throws: fault, "\(order)") { try KeePassSamples.read(others.reduce(head, +)) }
        }
        // All but the last block that has content.
        #expect(throws: fault) { try KeePassSamples.read((blocks.dropLast(2) + blocks.suffix(1)).reduce(head, +)) }
    }

    @Test("a file of KDBX 3 is read, and its protected values with it")
    func older() throws {
        let entry = try KeePassSamples.read(OlderKDBX().file()).entries[0]
        #expect(entry.title == "old" && entry.values(.password) == ["pässword"] && entry.values(.notes) == ["n"])
        // A file before 3.1 has no digest of its header.
        var early = OlderKDBX()
        (early.minor, early.headerHash) = (0, .some(nil))
        #expect(try KeePassSamples.read(early.file()).entries.count == 1)
    }

    @Test("a protected attachment of KDBX 3 is decrypted, also where its bytes look like base64")
    func olderAttachments() throws {
        var older = OlderKDBX()
        for contents in [([0, 0xFF, 7], Array("QUJDRA==".utf8)), (Array("QUJDRA==".utf8), [UInt8]())] {
            older.attachments = contents
            let fields = try KeePassSamples.read(older.file()).entries[0].fields.filter { $0.role == .attachment }
            #expect(fields.map(\.name).sorted() == ["entry", "list"])
            for field in fields {
                let bytes = field.value.withBytes { bytes in bytes.indices.map { bytes[$0] } }
                #expect(bytes == (field.name == "list" ? contents.0 : contents.1))
            }
        }
    }

    @Test("a file of KDBX 3 with a changed header, a wrong password or blocks in another order is refused")
    func olderBroken() throws {
        var other = OlderKDBX()
        other.headerHash = .some(Base64.encode([UInt8](repeating: 0, count: 32)))
        #expect(throws: InterchangeError.damaged("the check value of its header")) { try KeePassSamples.read(other.file()) }
        let file = try OlderKDBX().file()
        #expect(throws: InterchangeError.wrongKey) { try KDBXReader.read(file.span, key: ForeignKey(password: secret("x"))) }
        var swapped = OlderKDBX()
        swapped.numbers = [1, 0]
        #expect(throws: InterchangeError.damaged("the order of its blocks")) { try KeePassSamples.read(swapped.file()) }
        // The minor version is in the header only.
        var later = file
        later[8] = 2
        #expect(throws: InterchangeError.damaged("the check value of its header")) { try KeePassSamples.read(later) }
        var longer = OlderKDBX()
        longer.behind = [1]
        #expect(throws: InterchangeError.damaged("its end, behind which there is more")) {
            try KeePassSamples.read(longer.file())
        }
        // Every block of the cipher. In the start bytes the password seems wrong; behind them no XML is read.
        let faults = ["the check value of a block", "the order of its blocks", "its end, which is missing", "its last block"]
        let header = try KDBXHeader(reading: file.span).count
        for index in stride(from: header, to: file.count, by: 16) {
            var changed = file
            changed[index] ^= 1
            let error = #expect(throws: InterchangeError.self, "\(index)") { try KeePassSamples.read(changed) }
            if index < header + 32 {
                #expect(error == .wrongKey, "\(index)")
            } else {
                #expect(faults.contains { error == .damaged($0) }, "\(index) \(error.debugDescription)")
            }
        }
    }

    @Test("work beyond the limits is refused before it is done")
    func work() throws {
        let file = try OlderKDBX().file()
        var limits = KeePassLimits()
        limits.rounds = 2
        #expect(throws: InterchangeError.tooMuch("rounds of its key derivation")) {
            try KDBXReader.read(file.span, key: KeePassSamples.key(), limits: limits)
        }
        let key = secret("k")
        for cost in [
            Argon2.Parameters(memoryKiB: 2 << 20, passes: 1, lanes: 1),
            Argon2.Parameters(memoryKiB: 1 << 20, passes: 65, lanes: 1),
            Argon2.Parameters(memoryKiB: 1 << 16, passes: 1, lanes: 1025),
        ] {
            let derivation = KDBXDerivation.argon2(.argon2d, .v19, cost, salt: KeePassSamples.padding(32), secret: [], data: [])
            #expect(throws: InterchangeError.tooMuch("work of its key derivation")) { try derivation.key(from: key, .standard) }
        }
        let none = KDBXDerivation.aes(rounds: 0, seed: KeePassSamples.padding(32))
        #expect(throws: InterchangeError.damaged("the parameters of its key derivation")) { try none.key(from: key, .standard) }
        let many = KDBXVariants((0..<1_000).map { (name: "\($0)", value: .bool(true)) }).encoded
        #expect(throws: InterchangeError.tooMuch("bytes in the parameters of its key derivation")) {
            try KDBXVariants(reading: many)
        }
    }

    @Test("a small file that unpacks to far more is refused, and so is an attachment that many entries have")
    func bombs() throws {
        var entry = ForeignEntry(title: "t")
        entry.fields = [ForeignField("a", .other, isConcealed: false, SecretBytes(count: 1 << 20) { $0.update(repeating: 0x61) })]
        let file = try KeePassSamples.write([entry]).bytes
        #expect(file.count < 1 << 14)
        var limits = KeePassLimits()
        limits.unpackedBytes = 1 << 19
        #expect(throws: InterchangeError.tooMuch("bytes of XML")) {
            try KDBXReader.read(file.span, key: KeePassSamples.key(), limits: limits)
        }
        // 64 KiB of zeros, and the same twice.
        let packed = "H4sIAAAAAAACA+3BAQEAAACAkP6v7ggK" + String(repeating: "A", count: 84) + "auuOl9cAAAEA"
        let value = "<Binary><Key>a</Key><Value Compressed=\"True\">\(packed)</Value></Binary>"
        limits = KeePassLimits()
        limits.attachmentBytes = 1 << 16
        let one = KeePassSamples.xml([], inEntry: value), two = KeePassSamples.xml([], inEntry: value + value)
        #expect(try KeePassXMLReader.read(one.span, limits: limits).entries[0].fields[0].value.count == 1 << 16)
        #expect(throws: InterchangeError.tooMuch("unpacked bytes")) { try KeePassXMLReader.read(two.span, limits: limits) }
        let reference = "<Binary><Key>a</Key><Value Ref=\"0\"/></Binary>"
        let list = "<Binaries><Binary ID=\"0\" Compressed=\"True\">\(packed)</Binary></Binaries>"
        let listed = KeePassSamples.xml([], inEntry: reference, meta: list)
        #expect(try KeePassXMLReader.read(listed.span, limits: limits).entries[0].fields[0].value.count == 1 << 16)
        let shared = KeePassSamples.xml(
            [], inEntry: String(repeating: reference, count: 100),
            meta: "<Binaries><Binary ID=\"0\">\(Base64.encode(KeePassSamples.padding(1 << 10)))</Binary></Binaries>")
        #expect(try KeePassXMLReader.read(shared.span).entries[0].fields.count == 100)
        limits = KeePassLimits()
        limits.attachmentBytes = 50 << 10
        #expect(throws: InterchangeError.tooMuch("bytes of attachments")) {
            try KeePassXMLReader.read(shared.span, limits: limits)
        }
    }
}
