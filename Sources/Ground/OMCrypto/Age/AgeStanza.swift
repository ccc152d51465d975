// One stanza of an age header: the file key for one recipient.

internal import OMSecrets

struct AgeStanza: Hashable, Sendable {
    /// A stanza's content by its type. Each case has what docs/formats/age.md allows, and nothing else.
    enum Content: Hashable, Sendable {
        case x25519(share: [UInt8])
        case scrypt(salt: [UInt8], logCost: Int)
        case sshEd25519(tag: [UInt8], share: [UInt8])
        case sshRSA(tag: [UInt8])
        /// Another type. Readers skip it.
        case unknown
    }

    /// The types that omvault knows.
    enum Kind: String {
        case x25519 = "X25519"
        case password = "scrypt"
        case sshEd25519 = "ssh-ed25519"
        case sshRSA = "ssh-rsa"
    }

    let type: String
    let arguments: [String]
    let body: [UInt8]
    let content: Content

    static let saltCount = 16
    static let tagCount = 4
    private static let shareCount = 32
    private static let lineCount = 64

    init(_ type: Kind, _ arguments: [String], body: [UInt8]) throws(CryptoError) {
        try self.init(type: type.rawValue, arguments, body: body)
    }

    /// - Throws: ``CryptoError/malformedAge`` if a known type has other arguments or another body than it may have.
    init(type: String, _ arguments: [String], body: [UInt8]) throws(CryptoError) {
        (self.type, self.arguments, self.body) = (type, arguments, body)
        content = try Self.content(type, arguments)
        // Attack (Len, Grubbs, Ristenpart 2021): a longer body could open under many keys. So its length is checked first.
        switch content {
        case .unknown, .sshRSA: break
        default: guard body.count == AgeKeys.sealedCount else { throw .malformedAge }
        }
    }

    private static func content(_ type: String, _ arguments: [String]) throws(CryptoError) -> Content {
        func bytes(_ index: Int, _ count: Int) throws(CryptoError) -> [UInt8] {
            guard let bytes = try? Base64.decode(arguments[index], .unpadded), bytes.count == count else {
                throw .malformedAge
            }
            return bytes
        }
        func require(_ count: Int) throws(CryptoError) {
            guard arguments.count == count else { throw .malformedAge }
        }
        switch Kind(rawValue: type) {
        case .x25519:
            try require(1)
            return .x25519(share: try bytes(0, shareCount))
        case .password:
            try require(2)
            return .scrypt(salt: try bytes(0, saltCount), logCost: try logCost(arguments[1]))
        case .sshEd25519:
            try require(2)
            return .sshEd25519(tag: try bytes(0, tagCount), share: try bytes(1, shareCount))
        case .sshRSA:
            try require(1)
            return .sshRSA(tag: try bytes(0, tagCount))
        case nil: return .unknown
        }
    }

    /// A decimal number from 1, without a zero or a sign in front.
    private static func logCost(_ text: String) throws(CryptoError) -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.first != UInt8(ascii: "0"),
            let number = Int(text)
        else { throw .malformedAge }
        return number
    }

    /// The stanza's lines.
    var text: String {
        let body = Array(Base64.encode(body, .unpadded).utf8)
        var text = "-> " + ([type] + arguments).joined(separator: " ") + "\n"
        for start in stride(from: 0, through: body.count, by: Self.lineCount) {
            text += String(decoding: body[start..<min(start + Self.lineCount, body.count)], as: UTF8.self) + "\n"
        }
        return text
    }

    /// The bytes of one line of a body, and whether it is the last.
    static func bodyLine(_ line: [UInt8]) throws(CryptoError) -> (bytes: [UInt8], isLast: Bool) {
        guard line.count <= lineCount,
            let bytes = try? Base64.decode(String(decoding: line, as: UTF8.self), .unpadded)
        else { throw .malformedAge }
        return (bytes, line.count < lineCount)
    }
}
