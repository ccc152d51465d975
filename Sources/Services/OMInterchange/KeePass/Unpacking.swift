// A payload's bytes, piece by piece, and out of gzip (RFC 1952) if it is compressed.

internal import CZlib
internal import OMSecrets

/// Reads a payload from front to back.
final class Unpacking {
    private let payload: SecretBytes
    private var used = 0
    /// Of zlib, at an address that stays. Nil if the payload is not compressed.
    private let stream: UnsafeMutablePointer<z_stream>?
    private var isAtEnd = false
    /// How many more bytes may come out.
    private var left: Int

    private static let fault = InterchangeError.damaged("its compressed part")

    init(_ payload: consuming SecretBytes, isCompressed: Bool, atMost most: Int) {
        self.payload = payload
        left = most
        guard isCompressed else {
            stream = nil
            return
        }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, and 16 for the head and the check value of gzip.
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            fatalError("out of memory for zlib")
        }
        self.stream = stream
    }

    deinit {
        guard let stream else { return }
        inflateEnd(stream)
        stream.deallocate()
    }

    /// - Returns: How many bytes were written. 0 at the end.
    func read(into target: inout MutableSpan<UInt8>) throws(InterchangeError) -> Int {
        let count = try stream.map { (stream) throws(InterchangeError) in try inflate(stream, &target) } ?? copy(&target)
        // Attack: a few bytes unpack to gigabytes.
        guard count <= left else { throw .tooMuch("unpacked bytes") }
        left -= count
        return count
    }

    /// The next `count` bytes. Memory is taken as they come, and not for what the file announces.
    func exactly(_ count: Int) throws(InterchangeError) -> SecretBytes {
        var bytes = SecretBuffer(capacity: min(count, 1 << 16))
        while bytes.count < count {
            let before = bytes.count
            try bytes.append(upTo: min(count - before, 1 << 20)) { (target) throws(InterchangeError) in try read(into: &target) }
            guard bytes.count > before else { throw .damaged("its inner header") }
        }
        return bytes.finish()
    }

    /// All bytes to the end.
    func rest() throws(InterchangeError) -> SecretBytes {
        var bytes = SecretBuffer(capacity: 1 << 12)
        while true {
            let before = bytes.count
            try bytes.append(upTo: min(max(1 << 12, before), 1 << 20)) { (target) throws(InterchangeError) in
                try read(into: &target)
            }
            guard bytes.count > before else { return bytes.finish() }
        }
    }

    private func copy(_ target: inout MutableSpan<UInt8>) -> Int {
        let count = min(target.count, payload.count - used)
        payload.withBytes { payload in
            payload.extracting(used..<used + count).withPointer { source, count in
                target.withPointer { target, _ in target.update(from: source, count: count) }
            }
        }
        used += count
        return count
    }

    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ target: inout MutableSpan<UInt8>
    ) throws(InterchangeError) -> Int {
        guard !isAtEnd else { return 0 }
        var written = 0, status = Z_OK
        payload.withBytes { payload in
            payload.withPointer { source, count in
                target.withPointer { target, room in
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: source + used)
                    stream.pointee.avail_in = UInt32(count - used)
                    stream.pointee.next_out = target
                    stream.pointee.avail_out = UInt32(room)
                    status = CZlib.inflate(stream, Z_NO_FLUSH)
                    written = room - Int(stream.pointee.avail_out)
                    used = count - Int(stream.pointee.avail_in)
                }
            }
        }
        if status == Z_STREAM_END {
            isAtEnd = true
            guard used == payload.count else { throw Self.fault }
        } else if status != Z_OK || written == 0 {
            throw Self.fault
        }
        return written
    }
}
