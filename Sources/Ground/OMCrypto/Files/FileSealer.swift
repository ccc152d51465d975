// The writer of containers: docs/formats/file-format.md. It needs constant memory: two pieces of plaintext and one of ciphertext. The
// second piece of plaintext shows whether the first piece ends with the file's last chunk.

public import OMSecrets

/// Encrypts one stream into one container.
///
///     let sealer = try FileSealer(password: password)
///     try sealer.seal(from: { … }, to: { … })
public struct FileSealer: ~Copyable {
    private let start: [UInt8]
    private var cipher: ChunkCipher

    /// Encrypts to a password, which is stretched with Argon2id.
    ///
    /// - Throws: ``SecretsError/outOfMemory``.
    public init(
        _ algorithm: FileAlgorithm = .aes256GCM, password: borrowing Password,
        work: Argon2id.Parameters = .standard
    ) throws {
        let salt = Random.bytes(Argon2id.saltCount)
        let key = try Argon2id.stretch(password.bytes, salt: salt, work)
        try self.init(FileHeader(algorithm, salt: Self.newSalt(), .password(work, salt: salt)), key)
    }

    /// Encrypts to a key that both sides have: 32 random bytes, never a password.
    public init(_ algorithm: FileAlgorithm = .aes256GCM, key: borrowing Key<Deriving>) throws(CryptoError) {
        try self.init(FileHeader(algorithm, salt: Self.newSalt(), .key), key)
    }

    /// Encrypts to 1 to 64 public keys. The private key of each opens the container, which does not name the recipients.
    ///
    /// - Throws: ``CryptoError/unusableRecipient``.
    public init(_ algorithm: FileAlgorithm = .aes256GCM, recipients: [FileRecipient]) throws(CryptoError) {
        guard (1...FileHeader.maximumRecipients).contains(recipients.count) else { throw .unusableRecipient }
        let key = Key<Deriving>.random()
        let salt = Self.newSalt()
        var stanzas: [FileHeader.Stanza] = []
        for recipient in recipients { stanzas.append(try FileHeader.Stanza(key, for: recipient, salt: salt)) }
        try self.init(FileHeader(algorithm, salt: salt, .recipients(stanzas)), key)
    }

    private init<Use: DerivingUse>(_ header: FileHeader, _ fileKey: borrowing Key<Use>) throws(CryptoError) {
        let bytes = header.encoded
        start = bytes + FileKeys.commitment(fileKey, bytes)
        cipher = try ChunkCipher(.encrypt, header.algorithm, key: FileKeys.chunkKey(fileKey, bytes))
    }

    private static func newSalt() -> [UInt8] { Random.bytes(FileHeader.saltCount) }

    /// Encrypts everything from `source`. An error of `source` or `sink` ends it.
    public consuming func seal(from source: ByteSource, to sink: ByteSink) throws {
        try sink(start.span)
        try FileKeys.run(&cipher, from: source, to: sink)
    }
}

/// The steps that the writer and the reader share.
enum FileKeys {
    /// The number of chunks in a piece. A piece is read, sealed and written at once, and fits the processor's cache.
    static let batch = 8

    static func commitment<Use: DerivingUse>(_ fileKey: borrowing Key<Use>, _ header: [UInt8]) -> [UInt8] {
        fileKey.fingerprint(Context(.fileCommit, .bytes(header)))
    }

    static func chunkKey<Use: DerivingUse>(_ fileKey: borrowing Key<Use>, _ header: [UInt8]) -> Key<Sealing> {
        fileKey.derive(Context(.filePayload, .bytes(header)))
    }

    /// Seals or opens the whole stream.
    static func run(_ cipher: inout ChunkCipher, from source: ByteSource, to sink: ByteSink) throws {
        let (chunk, result) = cipher.counts
        var output = SecretScratch(count: batch * result)
        try stream(piece: batch * chunk, from: source) { piece, isLast in
            let count = try output.withMutableBytes(0..<output.count) { target in
                try cipher.run(piece, isLast: isLast, into: &target)
            }
            if count > 0 { try output.withBytes(count, sink) }
        }
    }

    /// Calls `body` with each piece of the stream and whether it is the last. A piece has `count` bytes; the last can be
    /// shorter, and the only piece of an empty stream is empty.
    static func stream(
        piece count: Int, from source: ByteSource, _ body: (Span<UInt8>, Bool) throws -> Void
    ) throws {
        var piece = SecretScratch(count: count)
        var next = SecretScratch(count: count)
        var used = try fill(&piece, from: source)
        while true {
            let following = used < count ? 0 : try fill(&next, from: source)
            try piece.withBytes(used) { try body($0, following == 0) }
            guard following > 0 else { return }
            swap(&piece, &next)
            used = following
        }
    }

    private static func fill(_ scratch: inout SecretScratch, from source: ByteSource) throws -> Int {
        var used = 0
        while used < scratch.count {
            let read = try scratch.withMutableBytes(used..<scratch.count) { try source(&$0) }
            guard read > 0 else { break }
            used += read
        }
        return used
    }
}
