public import OMSecrets

/// The body of a request: nothing, bytes, or pieces of a source that is read while it is sent.
public struct RESTBody: Sendable {
    /// Gives the next piece, of at most so many bytes. An empty piece ends the body.
    public typealias Reader = @Sendable (Int) throws(RESTError) -> SecretBytes

    /// Nil if no one knows, so that it goes in chunks.
    let count: UInt64?
    /// Whether `open` gives a reader that begins at the start each time.
    let canBeSentAgain: Bool
    let open: (@Sendable () throws(RESTError) -> Reader)?

    /// No body.
    public static let none = RESTBody(count: nil, canBeSentAgain: true, open: nil)

    private init(count: UInt64?, canBeSentAgain: Bool, open: (@Sendable () throws(RESTError) -> Reader)?) {
        (self.count, self.canBeSentAgain, self.open) = (count, canBeSentAgain, open)
    }

    /// A body that is all there.
    public init(_ bytes: consuming SecretBytes) {
        let held = HeldBody(bytes)
        self.init(count: UInt64(held.bytes.count), canBeSentAgain: true) {
            let place = BodyPlace()
            return { most in
                held.bytes.withBytes { bytes in
                    let (start, end) = place.step(upTo: most, of: bytes.count)
                    return SecretBytes(copying: bytes.extracting(start..<end))
                }
            }
        }
    }

    /// A body that is read while it is sent.
    ///
    /// - Parameters:
    ///   - count: How many bytes it has. Nil if that is not known.
    ///   - canBeSentAgain: Whether each call of `open` gives a reader of the whole body.
    ///   - open: Called once for each time that the body is sent.
    public init(count: UInt64?, canBeSentAgain: Bool, reading open: @escaping @Sendable () throws(RESTError) -> Reader) {
        self.init(count: count, canBeSentAgain: canBeSentAgain, open: open)
    }

    var isEmpty: Bool { open == nil }

    var form: RequestHead.Body {
        guard open != nil else { return .none }
        return count.map { .counted($0) } ?? .endless
    }
}

private final class HeldBody: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// How far a body was read.
private final class BodyPlace: Sendable {
    private let offset = Guarded(0)

    func step(upTo most: Int, of count: Int) -> (Int, Int) {
        offset.withLock { offset in
            let start = offset
            offset = min(count, start + most)
            return (start, offset)
        }
    }
}
