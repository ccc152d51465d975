// Bytes taken from the front, each once, and nothing taken that is not there.

/// Bytes that are not what docs/login-format.md allows.
struct Malformed: Error {}

struct ByteReader {
    private let all: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { all = bytes }

    var isAtEnd: Bool { position == all.count }

    mutating func byte() throws(Malformed) -> UInt8 { try bytes(1)[0] }

    mutating func bytes(_ count: Int) throws(Malformed) -> [UInt8] {
        guard count <= all.count - position else { throw Malformed() }
        defer { position += count }
        return Array(all[position..<position + count])
    }

    mutating func number32(_ range: ClosedRange<UInt32> = 0...UInt32.max) throws(Malformed) -> UInt32 {
        let number = try bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        guard range.contains(number) else { throw Malformed() }
        return number
    }

    mutating func number64(_ range: ClosedRange<UInt64>) throws(Malformed) -> UInt64 {
        let number = try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        guard range.contains(number) else { throw Malformed() }
        return number
    }

    mutating func time() throws(Malformed) -> Int64 {
        Int64(try number64(0...UInt64(TimeMemory.range.upperBound)))
    }

    /// A length (1 byte) and so many bytes of UTF-8 that `make` takes for a name.
    mutating func name<Name>(_ make: (String) throws(AuthError) -> Name) throws(Malformed) -> Name {
        guard let text = String(validating: try bytes(Int(try byte())), as: UTF8.self) else { throw Malformed() }
        do { return try make(text) } catch { throw Malformed() }
    }
}

extension [UInt8] {
    mutating func append(_ number: UInt32) {
        for shift in stride(from: UInt32(24), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
