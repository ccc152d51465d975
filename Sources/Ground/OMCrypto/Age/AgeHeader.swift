// The header of an age file, line by line as in docs/formats/age.md. The reader refuses everything that the page does not allow.

internal import OMSecrets

struct AgeHeader: Sendable {
    let stanzas: [AgeStanza]
    /// Everything up to and including `---`: what the MAC covers.
    let bytes: [UInt8]
    let mac: [UInt8]

    static let intro = "age-encryption.org/v1"
    private static let introStart = "age-encryption.org/v"
    private static let stanzaStart = "-> "
    private static let end = "---"
    private static let macCount = 32
    static let maximumCount = 256 << 10
    static let maximumStanzas = 256

    /// A new header for `stanzas`.
    init(_ stanzas: [AgeStanza], _ fileKey: borrowing SecretBytes) throws(CryptoError) {
        self.stanzas = stanzas
        bytes = Array((Self.intro + "\n" + stanzas.map(\.text).joined() + Self.end).utf8)
        mac = try AgeKeys.mac(of: bytes, fileKey)
    }

    /// The header with its last line.
    var encoded: [UInt8] { bytes + Array(" \(Base64.encode(mac, .unpadded))\n".utf8) }

    /// Reads the header and leaves `source` behind it.
    ///
    /// - Throws: ``CryptoError/malformedAge``, ``CryptoError/laterAge``, and the errors of `source`.
    init(from source: ByteSource) throws {
        var lines = AgeHeaderLines()
        try Self.checkIntro(lines.next(from: source))
        var stanzas: [AgeStanza] = []
        while true {
            let line = try lines.next(from: source)
            guard !line.starts(with: Self.end.utf8) else {
                mac = try Self.mac(line)
                bytes = lines.bytes.dropLast(line.count + 1) + Array(Self.end.utf8)
                break
            }
            // Attack: a file with very many stanzas costs an agreement for each of them and each private key.
            guard stanzas.count < Self.maximumStanzas else { throw CryptoError.malformedAge }
            let words = try Self.words(line)
            var (body, isLast): ([UInt8], Bool) = ([], false)
            while !isLast {
                let piece = try AgeStanza.bodyLine(lines.next(from: source))
                body += piece.bytes
                isLast = piece.isLast
            }
            stanzas.append(try AgeStanza(type: words[0], Array(words.dropFirst()), body: body))
        }
        // Attack: a writer who does not know the password adds a stanza of his own to a file that the reader takes for the work of
        // someone who knows it.
        let hasPassword = stanzas.contains { $0.isOfPassword }
        guard !stanzas.isEmpty, !hasPassword || stanzas.count == 1 else { throw CryptoError.malformedAge }
        self.stanzas = stanzas
    }

    private static func checkIntro(_ line: [UInt8]) throws(CryptoError) {
        guard line != Array(intro.utf8) else { return }
        let version = line.dropFirst(introStart.utf8.count)
        let isNumber = version.allSatisfy { (0x30...0x39).contains($0) } && version.first != UInt8(ascii: "0")
        guard line.starts(with: introStart.utf8), (1...8).contains(version.count), isNumber else { throw .malformedAge }
        throw .laterAge
    }

    /// The type and the arguments.
    private static func words(_ line: [UInt8]) throws(CryptoError) -> [String] {
        guard line.starts(with: stanzaStart.utf8) else { throw .malformedAge }
        let words = line.dropFirst(stanzaStart.utf8.count).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.allSatisfy({ word in !word.isEmpty && word.allSatisfy { (0x21...0x7E).contains($0) } }) else {
            throw .malformedAge
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func mac(_ line: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard line.starts(with: "\(end) ".utf8),
            let mac = try? Base64.decode(String(decoding: line.dropFirst(end.utf8.count + 1), as: UTF8.self), .unpadded),
            mac.count == macCount
        else { throw .malformedAge }
        return mac
    }

    /// - Throws: ``CryptoError/damagedContainer`` if the header was changed without the file key.
    func check(_ fileKey: borrowing SecretBytes) throws(CryptoError) {
        let right = try AgeKeys.mac(of: bytes, fileKey)
        guard ConstantTime.areEqual(right.span, mac.span) else { throw .damagedContainer }
    }
}

extension AgeStanza {
    var isOfPassword: Bool { if case .scrypt = content { true } else { false } }
}

/// The lines of a header, byte by byte: what follows the header stays in the source.
private struct AgeHeaderLines {
    private(set) var bytes: [UInt8] = []
    private var one: [UInt8] = [0]

    /// The next line, without its LF.
    mutating func next(from source: ByteSource) throws -> [UInt8] {
        let start = bytes.count
        while true {
            var room = one.mutableSpan
            guard try source(&room) == 1, bytes.count < AgeHeader.maximumCount else { throw CryptoError.malformedAge }
            let byte = one[0]
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { return Array(bytes[start..<bytes.count - 1]) }
        }
    }
}
