// Bytes that break their format: each gives its own error, and never a crash or a value.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct ParserTests {
    /// Every truncation of `bytes`, bytes after the end, and each of `places` set to each of its values.
    private func malformed(_ bytes: [UInt8], _ places: [(offset: Int, value: [UInt8])]) -> [(String, [UInt8])] {
        let cut = (0..<bytes.count).map { ("the first \($0)", Array(bytes.prefix($0))) }
        let longer = [("one byte more", bytes + [0]), ("twice", bytes + bytes)]
        return cut + longer
            + places.map { offset, value in
                var changed = bytes
                changed.replaceSubrange(offset..<offset + value.count, with: value)
                return ("\(value) at \(offset)", changed)
            }
    }

    private func slot(_ new: NewSlot? = nil) throws -> KeySlot {
        KeySlot(
            try new ?? NewSlot(password: Password(secret("pass word")), .floor), id: 1, created: 0, root: .random(),
            in: .somewhere(), device: DeviceKey(.random()))
    }

    @Test("a malformed slot is refused, even if it asks for 4 TiB")
    func slots() throws {
        let bytes = try slot().encoded
        #expect(bytes.count == KeySlot.count)
        #expect(try KeySlot(decoding: bytes).encoded == bytes)
        let cases = malformed(
            bytes,
            [
                (0, [0]), (0, [2]), (1, [0]), (1, [3]), (1, [4]), (1, [5]), (1, [6]), (1, [255]), (42, [1]), (57, [1]),
                (6, [0xff, 0xff, 0xff, 0xff]), (6, [0, 0, 0, 0]), (6, [0, 0, 0x1f, 0xff]), (6, [0, 0x10, 0, 1]),
                (10, [0, 0, 0, 0]), (10, [0, 0, 0, 17]), (10, [0x80, 0, 0, 0]), (14, [0, 0, 0, 0]), (14, [0, 0, 0, 5]),
            ])
        for (name, bytes) in cases {
            #expect(throws: VaultError.corrupt(.slot), "\(name)") { try KeySlot(decoding: bytes) }
        }
    }

    @Test("a slot without a stretch has no stretch parameters, and only a login slot has a subject")
    func unstretchedSlots() throws {
        let kinds: [NewSlot] = [
            NewSlot(keyFile: VaultKeyFile.random()), NewSlot(login: Random.bytes(16), key: .random()),
        ]
        for new in kinds {
            let bytes = try slot(new).encoded
            #expect(try KeySlot(decoding: bytes).encoded == bytes)
            var places = [6, 9, 10, 13, 14, 17, 18, 33].map { (offset: $0, value: [UInt8(1)]) }
            if new.kind == .keyFile { places += [(42, [1]), (57, [1])] }
            for (name, bytes) in malformed(bytes, places + [(1, [1]), (1, [2]), (1, [5])]) {
                #expect(throws: VaultError.corrupt(.slot), "\(new.kind) \(name)") { try KeySlot(decoding: bytes) }
            }
        }
    }

    @Test("a shared recovery slot has two canonical keys more, and no stretch and no subject")
    func sharedSlots() throws {
        let owner = MontgomeryPoint.publicKey(of: .random())
        let bytes = try slot(NewSlot(recoveryKey: owner)).encoded
        #expect(bytes.count == KeySlot.maximumCount && Array(bytes[90..<122]) == owner)
        #expect(try KeySlot(decoding: bytes).encoded == bytes)
        // The number 2^255 − 19 is 0, and 2^255 is 19.
        let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let places = [6, 9, 10, 13, 14, 17, 18, 33, 42, 57].map { (offset: $0, value: [UInt8(1)]) }
        let keys = [58, 90].flatMap { [(offset: $0, value: prime), (offset: $0 + 31, value: [UInt8(0xFF)])] }
        for (name, bytes) in malformed(bytes, places + keys + (1...4).map { (offset: 1, value: [UInt8($0)]) }) {
            #expect(throws: VaultError.corrupt(.slot), "\(name)") { try KeySlot(decoding: bytes) }
        }
    }

    @Test("a key file is read in its one form, and any changed character is refused")
    func keyFiles() throws {
        let file = VaultKeyFile.random()
        let text = file.text().withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        #expect(text.utf8.count == VaultKeyFile.maximumCount && text.hasPrefix("omvault-key-1-") && text.hasSuffix("\n"))
        for typed in [text, String(text.dropLast())] {
            #expect(try VaultKeyFile(text: secret(typed)).text().isEqual(to: file.text()), "\(typed)")
        }
        let letters = Array(text.dropLast())
        var malformed = ["", "\n", text + "\n", " " + text, text.uppercased(), String(text.dropLast(2)), text + text]
        for index in letters.indices {
            var changed = letters
            changed[index] = letters[index] == "7" ? "8" : "7"
            malformed.append(String(changed))
            changed[index] = Character(letters[index].uppercased())
            if changed != letters { malformed.append(String(changed)) }
        }
        for text in malformed {
            #expect(throws: VaultError.malformedKeyFile, "\(text)") { _ = try VaultKeyFile(text: secret(text)) }
        }
    }

    @Test("a slot with more lanes than this build computes is reported when it is used, and only then")
    func lanes() throws {
        var bytes = try slot().encoded
        bytes.replaceSubrange(14..<18, with: [0, 0, 0, 4])
        let slot = try KeySlot(decoding: bytes)
        #expect(throws: VaultError.unsupportedStretch) { _ = try slot.key(stretching: secret("pass word")) }
    }

    @Test("a malformed header is refused")
    func headers() throws {
        let home = try Home()
        try home.create()
        let database = try VaultSchema.open(home.vault)
        let header = try VaultFile.readHeader(database)
        let bytes = header.encoded
        #expect(bytes.count == VaultHeader.count)
        #expect(try VaultHeader(decoding: bytes, slots: header.slots) == header)
        let cases = malformed(
            bytes,
            [
                (0, [0]), (0, [2]), (25, [UInt8](repeating: 0xff, count: 8)), (37, [0]), (37, [4]), (37, [0x20]),
                (37, [0x83]), (33, [0xff, 0xff, 0xff, 0xff]), (38, [2]), (38, [0x80]), (39, [0x03, 0xe9]),
                (39, [0xff, 0xff]), (41, [0, 0, 0x1f, 0xff]), (41, [0, 0x10, 0, 1]), (41, [0, 0, 0, 0]),
                (45, [0, 0, 0, 0]), (45, [0, 0, 0, 17]), (45, [0x80, 0, 0, 0]),
                (82, [9]), (83, [1]), (83, [4]), (156, [3]),
            ])
        for (name, bytes) in cases {
            #expect(throws: VaultError.corrupt(.header), "\(name)") {
                try VaultHeader(decoding: bytes, slots: header.slots)
            }
        }
    }

    @Test("a malformed record is refused, and no level is read as a weaker one")
    func records() throws {
        let header = Record.Header(
            level: .whenUnlocked, isDeleted: false, id: Random.bytes(16), revision: 1, epoch: 1, parent: nil,
            salt: Random.bytes(16))
        let bytes = Record(header: header, box: Random.bytes(40 + 256)).stored
        #expect(try Record(decoding: bytes).stored == bytes)
        let levels = (0...255).map { UInt8($0) }.filter { ![1, 2, 3, 0x11, 0x12, 0x13].contains($0) }
        let cases = malformed(
            bytes,
            [
                (0, [0]), (0, [2]), (1, [0]), (1, [2]), (3, [2]), (3, [255]), (20, [UInt8](repeating: 0, count: 8)),
                (20, [UInt8](repeating: 0xff, count: 8)),
            ] + levels.map { (2, [$0]) })
        for (name, bytes) in cases {
            // A whole record followed by another whole record is a box of another length: 40 bytes too many.
            #expect(throws: MalformedBytes.self, "\(name)") { _ = try Record(decoding: bytes) }
        }
    }

    @Test("a malformed chunk is refused")
    func chunks() throws {
        let header = ValueChunk.Header(
            level: .highest, item: [UInt8](repeating: 1, count: 16), id: [UInt8](repeating: 2, count: 16), epoch: 7,
            salt: [UInt8](repeating: 3, count: 16))
        let bytes = ValueChunk(header: header, box: [UInt8](repeating: 9, count: 40 + 256)).stored
        #expect(try ValueChunk(decoding: bytes).stored == bytes && ValueChunk(decoding: bytes).header == header)
        let levels = (0...255).map { UInt8($0) }.filter { ![1, 2, 3, 0x11, 0x12, 0x13].contains($0) }
        let cases = malformed(
            bytes, [(0, [0]), (0, [2]), (1, [0]), (1, [2]), (3, [1]), (3, [255])] + levels.map { (2, [$0]) })
        for (name, bytes) in cases { #expect(throws: MalformedBytes.self, "\(name)") { _ = try ValueChunk(decoding: bytes) } }
        let longest = ValueChunk(header: header, box: [UInt8](repeating: 9, count: 40 + ValueChunk.valueCount)).stored
        #expect(try ValueChunk(decoding: longest).stored.count == ValueChunk.maximumStoredCount)
        for more in [256, 255] {
            #expect(throws: MalformedBytes.self) { _ = try ValueChunk(decoding: longest + [UInt8](repeating: 9, count: more)) }
        }
        #expect(ValueChunk.row([0xff] + [UInt8](repeating: 0, count: 15)) == -(1 << 56))
    }

    @Test("malformed content is refused: lengths of 2^31, names with control characters, padding that is not zero")
    func contents() throws {
        var draft = ItemDraft(name: try ItemName("item"), created: 1, modified: 2)
        try draft.put(secret("value"), at: try FieldName("field"))
        try draft.put(secret("other"), at: try FieldName("gield"))
        let bytes = try draft.finish(kept: 3, noChunks).withBytes { span in span.indices.map { span[$0] } }
        #expect(bytes.count == 256)
        #expect(try ItemContent(opened: SecretBytes(copying: bytes), format: 1).kept == 3)
        #expect(try ItemContent(opened: SecretBytes(copying: bytes), format: 1).fields.map(\.name.text) == ["field", "gield"])
        // length 0..4, version 4, state 5, kept 6, times 8..24, name length 24, name 26, count 30, field: 32 length,
        // 33 name, 38 length
        let cases = malformed(
            bytes,
            [
                (0, [0, 0, 0, 0]), (0, [0, 0, 1, 1]), (0, [0x80, 0, 0, 0]), (0, [0, 0, 0, 61]), (0, [0, 0, 0, 63]),
                (4, [0]), (4, [2]), (5, [2]), (5, [255]), (6, [0x03, 0xe9]), (6, [0xff, 0xff]), (6, [0x80, 0]),
                (24, [0, 0]), (24, [0xff, 0xff]), (24, [0, 3]), (26, [0]), (27, [0x1b]), (28, [0xff]),
                (29, [UInt8(ascii: ":")]), (30, [0, 0]), (30, [0, 1]), (30, [0, 3]), (30, [0xff, 0xff]), (32, [0]),
                (32, [255]),
                (33, [UInt8(ascii: "=")]), (33, [UInt8(ascii: "/")]), (33, [UInt8(ascii: "g")]), (38, [0x80, 0, 0, 0]),
                (38, [0xff, 0xff, 0xff, 0xff]), (38, [0, 0, 0, 4]), (255, [1]), (100, [1]),
            ])
        for (name, bytes) in cases {
            #expect(throws: VaultError.corrupt(.record), "\(name)") {
                _ = try ItemContent(opened: SecretBytes(copying: bytes), format: 1)
            }
        }
    }

    @Test("a recovery code is read in any spelling, and any changed letter is refused")
    func recoveryCodes() throws {
        let code = RecoveryCode.random()
        let text = code.text().withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        #expect(text.utf8.count == 39)
        let relaxed = text.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing("1", with: "l")
        for typed in [text, relaxed, text.replacing("-", with: "")] {
            #expect(try RecoveryCode(typed: secret(typed)).secret.isEqual(to: code.secret), "\(typed)")
        }
        let letters = Array(text)
        var mistyped = [
            "", "-", "u", text + "0", text + text, String(text.dropLast()), text + "\n", "é" + text.dropFirst(),
        ]
        for index in letters.indices where letters[index] != "-" {
            var changed = letters
            changed[index] = letters[index] == "7" ? "8" : "7"
            mistyped.append(String(changed))
        }
        for typed in mistyped {
            #expect(throws: VaultError.mistypedRecoveryCode, "\(typed)") { _ = try RecoveryCode(typed: secret(typed)) }
        }
    }

    @Test("names are bytes of a kind, and other bytes are refused")
    func names() throws {
        for text in ["a", "ä", "a/b c", "a:b", String(repeating: "n", count: 255)] {
            #expect(throws: Never.self) { try ItemName(text) }
        }
        let refused = ["", "a\0b", "a\nb", "\u{1b}[31m", "\u{7f}", "\u{85}", String(repeating: "n", count: 256)]
        for text in refused { #expect(throws: VaultError.invalidItemName) { try ItemName(text) } }
        for text in refused + ["a:b", "a/b", "a=b", String(repeating: "n", count: 65)] {
            #expect(throws: VaultError.invalidFieldName) { try FieldName(text) }
        }
        #expect(try ItemName("\u{e9}") != ItemName("e\u{301}"))
        #expect(
            ["", "whenunlocked", "when-unlocked ", "WHEN-UNLOCKED", "Always", "KeychainDataAccessible"].allSatisfy {
                ProtectionLevel(named: $0) == nil
            })
    }

    @Test("foreign, cut or torn marks are refused, and one torn slot leaves the other")
    func marks() throws {
        let home = try Home()
        let folder = try home.device()
        let device = try folder.make()
        let id = Random.bytes(16)
        let file = folder.highWater(.vault, id: id, under: device)
        let marks = (0..<7).map { HighWaterMark(generation: $0, digest: Random.bytes(32)) }
        try file.create(marks)
        try file.write(marks.reversed())
        let path = home.deviceFolder + "/vault-\(Hex.encode(id)).mark"
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func read(_ bytes: [UInt8]) throws -> [HighWaterMark]? {
            try Data(bytes).write(to: URL(filePath: path))
            return try file.read()
        }
        #expect(whole.count == 1024)
        #expect(try read(whole) == marks.reversed())
        #expect(try read(Array(whole.prefix(512)) + [UInt8](repeating: 7, count: 512)) == marks)
        for count in stride(from: 0, to: 1024, by: 31) {
            #expect(throws: StorageError.corrupt, "\(count)") { _ = try read(Array(whole.prefix(count))) }
        }
        for offset in 0..<512 {
            var torn = whole
            torn[offset] ^= 1
            torn[512 + offset] ^= 1
            #expect(throws: StorageError.corrupt, "\(offset)") { _ = try read(torn) }
        }
        #expect(throws: StorageError.corrupt) { _ = try read(whole + [0]) }
        let other = folder.highWater(.login, id: id, under: device)
        #expect(try other.read() == nil)
    }

    @Test("R44 a device key of another length is damaged, and a key that others can read is not used")
    func deviceKeys() throws {
        let home = try Home()
        _ = try home.device().make()
        let path = home.deviceFolder + "/device.key"
        for count in [0, 1, 31, 33, 64] {
            try Data(Random.bytes(count)).write(to: URL(filePath: path))
            #expect(throws: StorageError.deviceKeyDamaged, "\(count)") { _ = try home.device().load() }
        }
        chmod(path, 0o640)
        #expect(throws: StorageError.hazardous(.openToOthers, path: path)) { _ = try home.device().load() }
        try FileManager.default.removeItem(atPath: path)
        symlink("/dev/zero", path)
        #expect(throws: StorageError.hazardous(.symbolicLink, path: path)) { _ = try home.device().load() }
        chmod(home.deviceFolder, 0o750)
        #expect(throws: StorageError.hazardous(.openToOthers, path: home.deviceFolder)) { _ = try home.device() }
    }
}
