// What the process that reads a foreign file is asked. Format: docs/formats/import-reader.md.

internal import OMInterchange
internal import OMRecords
internal import OMSecrets

/// The first request, which comes with the file's descriptor.
struct ImportOpening: Hashable {
    /// Nil to find out.
    var format: ForeignFormat?
    /// Nil to find out.
    var map: CSVMap?

    static let maximumCount = 256 << 10

    var encoded: [UInt8] { [1, format?.rawValue ?? 0] + (map.map { Array($0.text.utf8) } ?? []) }

    init(format: ForeignFormat?, map: CSVMap?) { (self.format, self.map) = (format, map) }

    init(decoding message: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: message) == 1 else { throw MalformedBytes() }
        let code = try cursor.number(UInt8.self, in: message)
        format = ForeignFormat(rawValue: code)
        guard code == 0 || format != nil else { throw MalformedBytes() }
        guard cursor.offset < message.count else { return }
        guard let map = CSVMap(parsing: message.extracting(cursor.offset..<message.count)) else { throw MalformedBytes() }
        self.map = map
    }
}

/// The later requests: read the file with this key.
enum ImportKey {
    /// A password, a key file, and what is around them.
    static let maximumCount = 3 << 20

    static func encode(_ key: borrowing ForeignKey) -> SecretBuffer {
        var message = SecretBuffer(capacity: 64)
        message.append(2)
        switch key.password {
        case .some(let secret): append(secret, to: &message)
        case .none: message.append(0)
        }
        switch key.keyFile {
        case .some(let secret): append(secret, to: &message)
        case .none: message.append(0)
        }
        return message
    }

    private static func append(_ secret: borrowing SecretBytes, to message: inout SecretBuffer) {
        message.append(1)
        message.append(number: UInt32(secret.count))
        message.append(secret)
    }

    static func decode(_ message: Span<UInt8>) throws(MalformedBytes) -> ForeignKey {
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: message) == 2 else { throw MalformedBytes() }
        let password = try secret(&cursor, message)
        let keyFile = try secret(&cursor, message)
        try cursor.end(in: message)
        return ForeignKey(password: password, keyFile: keyFile)
    }

    private static func secret(_ cursor: inout ByteCursor, _ message: Span<UInt8>) throws(MalformedBytes) -> SecretBytes? {
        switch try cursor.number(UInt8.self, in: message) {
        case 0: return nil
        case 1:
            let count = Int(try cursor.number(UInt32.self, in: message))
            return SecretBytes(copying: message.extracting(try cursor.skip(count, in: message)))
        default: throw MalformedBytes()
        }
    }
}

extension SecretBuffer {
    /// The number in big-endian order.
    mutating func append(number: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
