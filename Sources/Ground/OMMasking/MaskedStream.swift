// A text that arrives in pieces, on its way to a reader who must not see some values.

internal import OMSecrets

/// Replaces values in a stream, also a value that is split over pieces. It holds back only bytes that a value may begin with.
///
///     var stream = MaskedStream()
///     let shown = stream.add(piece, mask)
///     let rest = stream.finish(mask)
package struct MaskedStream: ~Copyable, Sendable {
    private var held = SecretBuffer(capacity: 4096)
    /// How many of the held bytes belong to a value whose marker was written.
    private var concealed = 0

    package init() {}

    /// - Parameter mask: It may know more values than the mask of the piece before.
    /// - Returns: The text that can be shown now. No value is in it.
    package mutating func add(_ piece: Span<UInt8>, _ mask: Mask) -> [UInt8] {
        guard held.count > 0 else { return take(piece, mask, isLast: false) }
        held.append(piece)
        return takeHeld(mask, isLast: false)
    }

    /// The rest, behind the last piece.
    package mutating func finish(_ mask: Mask) -> [UInt8] { takeHeld(mask, isLast: true) }

    private mutating func takeHeld(_ mask: Mask, isLast: Bool) -> [UInt8] {
        var text = SecretBuffer(capacity: 4096)
        swap(&text, &held)
        return text.withBytes { take($0, mask, isLast: isLast) }
    }

    private mutating func take(_ text: Span<UInt8>, _ mask: Mask, isLast: Bool) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count + 64)
        let taken: Int
        (taken, concealed) = text.withUnsafeBytes {
            mask.replace(in: $0, isLast: isLast, concealed: concealed, into: &output)
        }
        held.append(text.extracting(taken...))
        return output
    }
}
