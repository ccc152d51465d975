// Files and values that several tests of KeePass's formats use.

import Foundation
import OMCrypto
import OMItems
import OMSecrets
import TestSupport

@testable import OMInterchange

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

func text(_ value: borrowing SecretBytes) -> String {
    value.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
}

extension ForeignEntry {
    /// The texts of the fields with this role.
    func values(_ role: ForeignField.Role) -> [String] { fields.filter { $0.role == role }.map { text($0.value) } }

    /// The text of the first field with this name.
    func value(_ name: String) -> String? { fields.first { $0.name == name }.map { text($0.value) } }

    /// Everything of it as text, in an order of its own. For comparisons.
    var summary: String {
        let fields = fields.map { "\($0.role) \($0.name) \($0.isConcealed) \(text($0.value))" }.sorted()
        return "\(folders) \(title) \(tags) \(isTrashed) \(fields)"
    }
}

enum KeePassSamples {
    static let password = "Wéi\u{1F511} & <key>"

    static func key() -> ForeignKey { ForeignKey(password: secret(password)) }

    /// The least that Argon2 can do. It costs nothing.
    static let cost = Argon2.Parameters(memoryKiB: 8, passes: 1, lanes: 1)

    static func write(_ entries: [ForeignEntry], cipher: KDBXCipher = .aes256) throws -> ForeignFile {
        try KDBXWriter.write(entries, key: key(), now: 1_700_000_000, cost: cost, cipher: cipher)
    }

    static func read(_ file: [UInt8]) throws -> ForeignContents { try KDBXReader.read(file.span, key: key()) }

    /// Entries with every value that the format has.
    static func entries() -> [ForeignEntry] {
        var full = ForeignEntry(title: "Bank <&> \"ü\"")
        full.folders = ["Finance", "a/b"]
        full.tags = ["money", "two words"]
        (full.created, full.modified, full.expires) = (1_500_000_000, 1_600_000_000, 1_900_000_000)
        full.type = .login
        full.fields = [
            ForeignField("user", .username, isConcealed: false, secret("alice@example.com")),
            ForeignField("Password", .password, isConcealed: true, secret("p<&>ass\u{1F600} ")),
            ForeignField("URL", .url, isConcealed: false, secret("https://example.com/?a=1&b=2")),
            ForeignField("more", .url, isConcealed: false, secret("https://two.example.com")),
            ForeignField("Notes", .notes, isConcealed: false, secret(" first line\n\tsecond line ")),
            ForeignField(
                "otp", .otp, isConcealed: true,
                secret("otpauth://totp/Bank:alice?secret=GEZDGNBVGY3TQOJQ&issuer=Bank&algorithm=SHA1&digits=6&period=30")),
            ForeignField("PIN", .other, isConcealed: true, secret("0000")),
            ForeignField("Branch", .other, isConcealed: false, secret("Köln")),
            ForeignField("key.bin", .attachment, isConcealed: true, SecretBytes(copying: (0...255).map { UInt8($0) })),
            ForeignField("empty.txt", .attachment, isConcealed: true, SecretBytes(copying: [])),
        ]
        var same = ForeignEntry(title: "Bank <&> \"ü\"")
        same.fields = [ForeignField("Password", .password, isConcealed: true, secret("second"))]
        var trashed = ForeignEntry(title: "")
        trashed.isTrashed = true
        trashed.folders = ["old"]
        trashed.fields = [ForeignField("UserName", .username, isConcealed: false, secret("bob"))]
        return [same, full, trashed]
    }

    /// XML with one entry that has these strings, as KeePass 2 exports it.
    static func xml(_ strings: [(String, String)], inEntry more: String = "", meta: String = "") -> [UInt8] {
        let fields = strings.map { "<String><Key>\($0.0)</Key><Value>\($0.1)</Value></String>" }.joined()
        return Array(
            """
            <?xml version="1.0" encoding="utf-8" standalone="yes"?>
            <KeePassFile><Meta>\(meta)</Meta><Root><Group><UUID>lmU+9n0aeESKZvcEze+bRg==</UUID><Name>R</Name>
            <Entry><UUID>AaUYVdXsI02h4T1RiAlgtg==</UUID>\(fields)\(more)</Entry></Group></Root></KeePassFile>
            """.utf8)
    }

    static func entry(_ strings: [(String, String)], inEntry more: String = "", meta: String = "") throws -> ForeignEntry {
        let xml = xml(strings, inEntry: more, meta: meta)
        return try KeePassXMLReader.read(xml.span).entries[0]
    }

    static func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}

/// A file of KDBX 3.1, which omvault does not write.
struct OlderKDBX {
    var rounds: UInt64 = 3
    /// Nil leaves it out.
    var headerHash: String??
    /// Blocks of the XML, with their numbers.
    var numbers: [UInt32] = [0, 1]
    var minor: UInt16 = 1
    /// The bytes of one value, which Salsa20 protects.
    var value = "pässword"
    /// Attachments that Salsa20 protects: one in the list, and one in the entry.
    var attachments: (inList: [UInt8], inEntry: [UInt8])?
    /// Bytes behind the last block.
    var behind: [UInt8] = []

    func file() throws -> [UInt8] {
        let seed = [UInt8](repeating: 1, count: 32), transform = [UInt8](repeating: 2, count: 32)
        let iv = [UInt8](repeating: 3, count: 16), start = [UInt8](repeating: 4, count: 32)
        let streamKey = [UInt8](repeating: 5, count: 32)
        var header: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5] + minor.littleEndianBytes + [3, 0]
        func add(_ id: UInt8, _ content: [UInt8]) {
            header += [id] + UInt16(content.count).littleEndianBytes + content
        }
        add(2, KDBXCipher.aes256.id)
        add(3, UInt32(0).littleEndianBytes)
        add(4, seed)
        add(5, transform)
        add(6, rounds.littleEndianBytes)
        add(7, iv)
        add(8, streamKey)
        add(9, start)
        add(10, UInt32(2).littleEndianBytes)
        add(0, [])
        let hash =
            switch headerHash {
            case .some(let hash): hash
            case .none: Base64.encode(try Digest.of(header, .sha256))
            }
        guard let stream = try KeyStream.ofValues(2, key: SecretBytes(copying: streamKey)) else { return [] }
        func protected(_ value: [UInt8]) -> String {
            let encrypted = stream.apply(value.span).withBytes { bytes in Base64.encode(bytes.indices.map { bytes[$0] }) }
            return "Protected=\"True\">\(encrypted)"
        }
        var meta = hash.map { "<HeaderHash>\($0)</HeaderHash>" } ?? ""
        if let attachments {
            meta += "<Binaries><Binary ID=\"0\" \(protected(attachments.inList))</Binary></Binaries>"
        }
        var inEntry = "<String><Key>Password</Key><Value \(protected(Array(value.utf8)))</Value></String>"
        if let attachments {
            inEntry += "<Binary><Key>list</Key><Value Ref=\"0\"/></Binary>"
            inEntry += "<Binary><Key>entry</Key><Value \(protected(attachments.inEntry))</Value></Binary>"
        }
        let xml = KeePassSamples.xml(
            [("Title", "old"), ("Notes", "n")],
            inEntry: inEntry, meta: meta)
        var plain = start
        let half = xml.count / 2
        for (part, number) in zip([Array(xml[..<half]), Array(xml[half...])], numbers) {
            plain += number.littleEndianBytes + (try Digest.of(part, .sha256)) + UInt32(part.count).littleEndianBytes + part
        }
        plain += UInt32(numbers.count).littleEndianBytes + KeePassSamples.padding(36) + behind
        let keys = try KDBXKeys(
            KeePassSamples.key(), seed: seed, .aes(rounds: rounds, seed: transform), .standard)
        let encrypted = try BlockCipher.encrypt(
            SecretBytes(copying: plain), unauthenticated: .aesCBC, key: keys.cipher, iv: iv, padding: .pkcs7)
        return header + encrypted
    }
}
