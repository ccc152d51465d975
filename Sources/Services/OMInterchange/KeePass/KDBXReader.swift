// KDBX 2, 3 and 4, the files of KeePass and KeePassXC: docs/formats/kdbx.md.

internal import OMCrypto
package import OMSecrets

/// Reads an encrypted file of KeePass.
package enum KDBXReader {
    /// Whether a file that starts so is one of KeePass. 12 bytes are enough.
    package static func isKDBX(_ start: Span<UInt8>) -> Bool { KDBXHeader.isKDBX(start) }

    /// The entries of a file. Nothing of it is read as an entry before its last check value was right.
    package static func read(
        _ file: Span<UInt8>, key: borrowing ForeignKey, limits: KeePassLimits = .standard
    ) throws(InterchangeError) -> ForeignContents {
        guard file.count <= longestFile else { throw .tooMuch("bytes of the file") }
        let header = try KDBXHeader(reading: file)
        try KDBXBlocks.checkDigest(file, header)
        let keys = try KDBXKeys(key, seed: header.seed, header.derivation, limits)
        let payload: SecretBytes
        if let older = header.older {
            payload = try KDBXBlocks.olderPayload(file, header, older, keys: keys)
        } else {
            payload = try KDBXBlocks.payload(file, header, keys)
        }
        return try contents(payload, header, headBytes: file.extracting(first: header.count), limits)
    }

    /// OpenSSL and zlib count in 32 bits.
    static let longestFile = 1 << 30
    private static let pieceCount = 1 << 18

    /// The entries of a payload of KDBX 4 without any check, for the fuzzer only.
    package static func read(
        unchecked payload: consuming SecretBytes, isCompressed: Bool, limits: KeePassLimits
    ) throws(InterchangeError) -> ForeignContents {
        var header = KDBXHeader(seed: [], iv: [], cipher: .aes256, .aes(rounds: 1, seed: []))
        header.isCompressed = isCompressed
        return try contents(payload, header, headBytes: Span(), limits)
    }

    /// The entries of a payload whose check values were right.
    private static func contents(
        _ payload: consuming SecretBytes, _ header: KDBXHeader, headBytes: Span<UInt8>, _ limits: KeePassLimits
    ) throws(InterchangeError) -> ForeignContents {
        let unpacking = Unpacking(
            payload, isCompressed: header.isCompressed, atMost: limits.unpackedBytes + limits.attachmentBytes)
        let inner: KDBXInnerHeader
        if let older = header.older {
            inner = KDBXInnerHeader(stream: try KeyStream.ofValues(older.streamID, key: SecretBytes(copying: older.streamKey)))
        } else {
            inner = try KDBXInnerHeader(reading: unpacking, limits)
        }
        let document = KeePassXML(stream: inner.stream, attachments: inner.attachments, limits)
        try feed(document, unpacking, limits)
        // Attack: an older header, or one with another cipher, is put in front of the payload. KDBX 3 has its only check value
        // of the header here.
        if header.older != nil, let hash = document.headerHash {
            guard let digest = try? Digest.of([UInt8](copying: headBytes), .sha256), (try? Base64.decode(hash)) == digest else {
                throw .damaged("the check value of its header")
            }
        }
        return try document.finished()
    }

    private static func feed(
        _ document: KeePassXML, _ unpacking: Unpacking, _ limits: KeePassLimits
    ) throws(InterchangeError) {
        let parsing = XMLParsing(for: document)
        var piece = SecretScratch(count: pieceCount)
        var left = limits.unpackedBytes
        while true {
            let count = try piece.withMutableBytes(0..<pieceCount) { (target) throws(InterchangeError) in
                try unpacking.read(into: &target)
            }
            guard count <= left else { throw .tooMuch("bytes of XML") }
            left -= count
            try piece.withBytes(count) { (bytes: Span<UInt8>) throws(InterchangeError) in
                try parsing.parse(bytes, isLast: count == 0)
            }
            if count == 0 { return }
        }
    }
}
