// zlib's compressed data (RFC 1950), as some test vectors have it.

internal import CZlib

enum Inflation {
    /// The bytes of a whole zlib stream. Nil if it is not one, if anything follows it, or if there are more than `most` bytes.
    static func bytes(of compressed: [UInt8], atMost most: Int) -> [UInt8]? {
        var stream = z_stream()
        guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var input = compressed
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            while true {
                let (status, count) = piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(piece.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (status, piece.count - Int(stream.avail_out))
                }
                output += piece.prefix(count)
                guard output.count <= most else { return nil }
                if status == Z_STREAM_END { return stream.avail_in == 0 ? output : nil }
                guard status == Z_OK, count > 0 || stream.avail_in > 0 else { return nil }
            }
        }
    }
}
