// The outer header of KDBX 2, 3 and 4. It is not encrypted.

internal import OMSecrets

/// The fields of a header.
struct KDBXHeader {
    var major: UInt16 = 4
    var minor: UInt16 = 0
    var cipher = KDBXCipher.aes256
    var isCompressed = true
    var seed: [UInt8] = []
    var iv: [UInt8] = []
    var derivation: KDBXDerivation
    /// Of KDBX 2 and 3.
    private(set) var older: Older?
    /// How many bytes of the file it is.
    private(set) var count = 0

    /// What KDBX 4 keeps behind its cipher.
    struct Older {
        /// The first bytes behind the cipher.
        var startBytes: [UInt8] = []
        var streamID: UInt32 = 0
        var streamKey: [UInt8] = []
    }

    private enum Field: UInt8 {
        case end = 0
        case cipher = 2
        case compression, seed, transformSeed, transformRounds, iv, streamKey, startBytes, streamID, derivation
    }

    private static let signature: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]
    private static let keePass1: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]
    /// The header's own name in messages.
    private static let part = "its header"

    init(seed: [UInt8], iv: [UInt8], cipher: KDBXCipher, _ derivation: KDBXDerivation) {
        (self.seed, self.iv, self.cipher, self.derivation) = (seed, iv, cipher, derivation)
    }

    static func isKDBX(_ start: Span<UInt8>) -> Bool {
        guard start.count >= signature.count else { return false }
        let first = [UInt8](copying: start.extracting(first: signature.count))
        return first == signature || first == keePass1
    }

    init(reading file: Span<UInt8>) throws(InterchangeError) {
        guard Self.isKDBX(file) else { throw .otherFormat }
        var cursor = KDBXCursor(in: Self.part)
        guard try cursor.take(Self.signature.count, in: file) == Self.signature else {
            throw .unsupported("a file of KeePass 1", remedy: "open it in KeePassXC, and save it as KDBX 4")
        }
        minor = try cursor.number(in: file)
        major = try cursor.number(in: file)
        guard (2...4).contains(major) else {
            throw .unsupported("version \(major).\(minor) of KDBX", remedy: "save the file as KDBX 4 in KeePassXC")
        }
        var fields: [Field: [UInt8]] = [:]
        while true {
            let id = try cursor.number(UInt8.self, in: file)
            let length: Int
            if major == 4 {
                length = Int(try cursor.number(UInt32.self, in: file))
            } else {
                length = Int(try cursor.number(UInt16.self, in: file))
            }
            let content = try cursor.take(length, in: file)
            guard let field = Field(rawValue: id) else { continue }
            if field == .end { break }
            // Attack: a field is there twice, and two readers take different ones.
            guard fields.updateValue(content, forKey: field) == nil else { throw cursor.fault }
        }
        count = cursor.offset
        guard let cipherID = fields[.cipher], let compression = fields[.compression].flatMap({ UInt32(littleEndian: $0) }),
            let seed = fields[.seed], seed.count == 32, let iv = fields[.iv], compression <= 1
        else { throw cursor.fault }
        cipher = try KDBXCipher(id: cipherID)
        guard iv.count == cipher.ivCount else { throw cursor.fault }
        (isCompressed, self.seed, self.iv) = (compression == 1, seed, iv)
        guard major < 4 else {
            guard let parameters = fields[.derivation] else { throw cursor.fault }
            derivation = try KDBXDerivation(KDBXVariants(reading: parameters))
            return
        }
        guard let transformSeed = fields[.transformSeed],
            let rounds = fields[.transformRounds].flatMap({ UInt64(littleEndian: $0) }),
            let startBytes = fields[.startBytes], startBytes.count == 32, let streamKey = fields[.streamKey],
            let streamID = fields[.streamID].flatMap({ UInt32(littleEndian: $0) })
        else { throw cursor.fault }
        derivation = .aes(rounds: rounds, seed: transformSeed)
        older = Older(startBytes: startBytes, streamID: streamID, streamKey: streamKey)
    }

    /// The header of KDBX 4 as bytes.
    var encoded: [UInt8] {
        var bytes = Self.signature + minor.littleEndianBytes + major.littleEndianBytes
        func add(_ field: Field, _ content: [UInt8]) {
            bytes += [field.rawValue] + UInt32(content.count).littleEndianBytes + content
        }
        add(.cipher, cipher.id)
        add(.compression, UInt32(isCompressed ? 1 : 0).littleEndianBytes)
        add(.seed, seed)
        add(.iv, iv)
        add(.derivation, derivation.variants.encoded)
        add(.end, Array("\r\n\r\n".utf8))
        return bytes
    }
}
