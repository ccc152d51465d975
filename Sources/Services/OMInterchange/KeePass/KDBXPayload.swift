// The way of a KDBX 4 file's content to its bytes: gzip, the cipher, then blocks with an HMAC each.

internal import CZlib
internal import OMCrypto
internal import OMSecrets

/// A file under construction.
final class KDBXPayload {
    private var file: [UInt8]
    private let keys: KDBXKeys
    private let cipher: any PayloadCipher
    private let stream: UnsafeMutablePointer<z_stream>
    private var packed = SecretScratch(count: 1 << 16)
    private var encrypted = SecretBuffer(capacity: KDBXPayload.blockCount + 1 << 17)
    private var index: UInt64 = 0

    private static let blockCount = 1 << 20
    private static let fault = InterchangeError.unsupported("AES on this machine", remedy: "enable it in the settings of OpenSSL")

    init(_ header: KDBXHeader, _ keys: consuming KDBXKeys) throws(InterchangeError) {
        let head = header.encoded
        guard let digest = try? Digest.of(head, .sha256) else { throw .noDigest }
        let tag = try keys.tag(ofHeader: head.span).withBytes { [UInt8](copying: $0) }
        file = head + digest + tag
        do throws(CryptoError) { cipher = try header.cipher.work(.encrypt, key: keys.cipher, iv: header.iv) } catch {
            throw Self.fault
        }
        self.keys = keys
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        // 15 bits of window, and 16 for the head and the check value of gzip.
        guard deflateInit2_(stream, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            fatalError("out of memory for zlib")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func append(_ content: Span<UInt8>) throws(InterchangeError) {
        var used = 0
        while used < content.count {
            let end = min(used + 1 << 24, content.count)
            try pack(content.extracting(used..<end), Z_NO_FLUSH)
            used = end
        }
    }

    func finish() throws(InterchangeError) -> [UInt8] {
        try pack(Span(), Z_FINISH)
        do throws(CryptoError) { try cipher.finish(into: &encrypted) } catch { throw Self.fault }
        if encrypted.count > 0 { try writeBlock() }
        try writeBlock()
        return file
    }

    private func pack(_ content: Span<UInt8>, _ mode: Int32) throws(InterchangeError) {
        var used = 0, isDone = false
        while !isDone {
            let count = packed.withMutableBytes(0..<packed.count) { target in
                content.withPointer { source, count in
                    target.withPointer { target, room in
                        stream.pointee.next_in = UnsafeMutablePointer(mutating: source + used)
                        stream.pointee.avail_in = UInt32(count - used)
                        stream.pointee.next_out = target
                        stream.pointee.avail_out = UInt32(room)
                        let status = deflate(stream, mode)
                        used = count - Int(stream.pointee.avail_in)
                        isDone = mode == Z_FINISH ? status == Z_STREAM_END : used == count && stream.pointee.avail_out > 0
                        return room - Int(stream.pointee.avail_out)
                    }
                }
            }
            do throws(CryptoError) {
                try packed.withBytes(count) { (piece) throws(CryptoError) in try cipher.update(piece, into: &encrypted) }
            } catch {
                throw Self.fault
            }
            if encrypted.count >= Self.blockCount { try writeBlock() }
        }
    }

    /// The block of what is encrypted so far. Without content it is the last.
    private func writeBlock() throws(InterchangeError) {
        try encrypted.withBytes { (block: Span<UInt8>) throws(InterchangeError) in
            try keys.tag(ofBlock: index, block).withBytes { file.append(copying: $0) }
            file += UInt32(block.count).littleEndianBytes
            file.append(copying: block)
        }
        encrypted.removeAll()
        index += 1
    }
}
