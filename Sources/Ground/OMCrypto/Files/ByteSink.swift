/// The receiver of a stream's bytes.
public typealias ByteSink = (Span<UInt8>) throws -> Void
