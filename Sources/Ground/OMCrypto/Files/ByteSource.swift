/// The source of a stream's bytes. It fills the span from its start with the bytes that it has, and returns their number. 0 is
/// the end.
public typealias ByteSource = (inout MutableSpan<UInt8>) throws -> Int
