internal import OMRecords

/// A position in one part of a KDBX file. Its numbers are little-endian, and each fault has the part's name.
struct KDBXCursor {
    private var cursor = ByteCursor()
    private let part: String

    init(in part: String) { self.part = part }

    var offset: Int { cursor.offset }

    var fault: InterchangeError { .damaged(part) }

    mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self, in bytes: Span<UInt8>
    ) throws(InterchangeError) -> Number {
        // The numbers of `ByteCursor` are big-endian.
        do throws(MalformedBytes) { return try cursor.number(type, in: bytes).byteSwapped } catch { throw fault }
    }

    mutating func skip(_ count: Int, in bytes: Span<UInt8>) throws(InterchangeError) -> Range<Int> {
        do throws(MalformedBytes) { return try cursor.skip(count, in: bytes) } catch { throw fault }
    }

    mutating func take(_ count: Int, in bytes: Span<UInt8>) throws(InterchangeError) -> [UInt8] {
        do throws(MalformedBytes) { return try cursor.take(count, in: bytes) } catch { throw fault }
    }
}

extension FixedWidthInteger {
    /// The number of exactly these bytes, which are little-endian. Nil for another count of bytes.
    init?(littleEndian bytes: [UInt8]) {
        guard bytes.count == Self.bitWidth / 8 else { return nil }
        self = bytes.reversed().reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }

    var littleEndianBytes: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
