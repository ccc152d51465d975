// The bytes of an age file, without the text around them.

internal import OMSecrets

/// Reads the bytes of an age file from a stream that has them as they are, or as text ("armor").
///
///     let reader = AgeReader(after: start)
///     let file = try AgeFile(from: { try reader.read(into: &$0, from: source) })
///
/// It needs constant memory. Text is checked while it is read: a fault of the text comes after the bytes before it.
public final class AgeReader {
    /// Bytes of the stream that were read and not yet given out.
    private var buffer: [UInt8]
    private var used = 0
    private var isAtEnd = false
    private var armor: AgeArmor.Reader?

    /// Whether the stream begins as an age file does. Otherwise its bytes are read as they are.
    public let isAge: Bool
    public var isArmored: Bool { armor != nil }

    /// How many bytes ``isAge(_:)`` needs to be sure, if the file has so many.
    public static let startCount = AgeArmor.mostSpace + AgeArmor.begin.utf8.count
    private static let pieceCount = 64 << 10

    /// Whether a file that begins so is an age file, or pretends to be.
    public static func isAge(_ start: Span<UInt8>) -> Bool { isBinary(start) || AgeArmor.isBegun(start) }

    private static func isBinary(_ start: Span<UInt8>) -> Bool { start.has("age-encryption.org/", at: start.indices) }

    /// - Parameter start: What was already read of the stream: at least ``startCount`` bytes, or all of it.
    public init(after start: Span<UInt8>) {
        buffer = [UInt8](copying: start)
        isAge = Self.isAge(start)
        armor = Self.isBinary(start) ? nil : AgeArmor.isBegun(start) ? AgeArmor.Reader() : nil
    }

    /// Reads bytes of the file into the start of `target`. 0 is the end.
    ///
    /// - Throws: ``CryptoError/malformedArmor``, and the errors of `source`.
    public func read(into target: inout MutableSpan<UInt8>, from source: ByteSource) throws -> Int {
        guard armor != nil else { return try readBinary(into: &target, from: source) }
        guard target.count > 0 else { return 0 }
        while armor?.hasBytes == false {
            let count = try armor?.decode(buffer.span.extracting(used...), isAtEnd: isAtEnd) ?? 0
            used += count
            if armor?.isDone == true { return 0 }
            // Nothing was decoded: a line is not whole yet.
            if count == 0 { try fill(from: source) }
        }
        return armor?.take(into: &target) ?? 0
    }

    private func readBinary(into target: inout MutableSpan<UInt8>, from source: ByteSource) throws -> Int {
        if used == buffer.count {
            guard target.count < Self.pieceCount else { return try source(&target) }
            // A header is read byte by byte.
            try fill(from: source)
        }
        let count = min(target.count, buffer.count - used)
        for index in 0..<count { target[index] = buffer[used + index] }
        used += count
        return count
    }

    private func fill(from source: ByteSource) throws {
        buffer.removeFirst(used)
        used = 0
        var piece = [UInt8](repeating: 0, count: Self.pieceCount)
        var room = piece.mutableSpan
        let count = try source(&room)
        if count == 0 { isAtEnd = true }
        buffer += piece.prefix(count)
    }
}
