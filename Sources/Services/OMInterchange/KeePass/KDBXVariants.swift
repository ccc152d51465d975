// The dictionary that KDBX 4 keeps the parameters of its key derivation in.

/// Named values of some types.
struct KDBXVariants {
    enum Value: Hashable {
        case uint32(UInt32), uint64(UInt64), bool(Bool), int32(Int32), int64(Int64), text(String), bytes([UInt8])
    }

    private(set) var members: [(name: String, value: Value)] = []

    private static let version: UInt16 = 0x0100
    /// Far more than any known parameters. Attack: each name is compared with all others, before anything is checked.
    private static let maximumCount = 8 << 10
    private static let part = "the parameters of its key derivation"

    init(_ members: [(name: String, value: Value)]) { self.members = members }

    init(reading bytes: [UInt8]) throws(InterchangeError) {
        guard bytes.count <= Self.maximumCount else { throw .tooMuch("bytes in the parameters of its key derivation") }
        let bytes = bytes.span
        var cursor = KDBXCursor(in: Self.part)
        guard try cursor.number(UInt16.self, in: bytes) & 0xFF00 <= Self.version else {
            throw .unsupported("a later form of parameters", remedy: "save the file as KDBX 4 in KeePassXC")
        }
        while true {
            let type = try cursor.number(UInt8.self, in: bytes)
            guard type != 0 else { break }
            let nameCount = try cursor.number(Int32.self, in: bytes)
            let name = String(decoding: try cursor.take(Int(nameCount), in: bytes), as: UTF8.self)
            let count = try cursor.number(Int32.self, in: bytes)
            let value = try cursor.take(Int(count), in: bytes)
            guard let value = Self.value(type, value), self[name] == nil else { throw cursor.fault }
            members.append((name, value))
        }
        guard cursor.offset == bytes.count else { throw cursor.fault }
    }

    subscript(name: String) -> Value? { members.first { $0.name == name }?.value }

    private static func value(_ type: UInt8, _ bytes: [UInt8]) -> Value? {
        switch type {
        case 0x04: UInt32(littleEndian: bytes).map { .uint32($0) }
        case 0x05: UInt64(littleEndian: bytes).map { .uint64($0) }
        case 0x08: bytes.count == 1 ? .bool(bytes[0] != 0) : nil
        case 0x0C: Int32(littleEndian: bytes).map { .int32($0) }
        case 0x0D: Int64(littleEndian: bytes).map { .int64($0) }
        case 0x18: .text(String(decoding: bytes, as: UTF8.self))
        case 0x42: .bytes(bytes)
        default: nil
        }
    }

    var encoded: [UInt8] {
        var bytes = Self.version.littleEndianBytes
        for (name, value) in members {
            let (type, content): (UInt8, [UInt8]) =
                switch value {
                case .uint32(let number): (0x04, number.littleEndianBytes)
                case .uint64(let number): (0x05, number.littleEndianBytes)
                case .bool(let flag): (0x08, [flag ? 1 : 0])
                case .int32(let number): (0x0C, number.littleEndianBytes)
                case .int64(let number): (0x0D, number.littleEndianBytes)
                case .text(let text): (0x18, Array(text.utf8))
                case .bytes(let content): (0x42, content)
                }
            bytes += [type] + Int32(name.utf8.count).littleEndianBytes + Array(name.utf8)
            bytes += Int32(content.count).littleEndianBytes + content
        }
        return bytes + [0]
    }
}
