// Writing a container: docs/file-format.md. Constant memory: two pieces of plaintext, of which the second tells whether
// the first one's last chunk is the file's last, and one of ciphertext.

public import OMSecrets

/// Where a stream's bytes come from: it fills the room from its start with as much as there is, and returns how much.
/// 0 is the end.
public typealias ByteSource = (inout MutableSpan<UInt8>) throws -> Int

/// Where a stream's bytes go.
public typealias ByteSink = (Span<UInt8>) throws -> Void

/// Encrypts one stream into one container.
///
///     let sealer = try FileSealer(password: password)
///     try sealer.seal(from: { … }, to: { … })
public struct FileSealer: ~Copyable {
    private let start: [UInt8]
    private var cipher: ChunkCipher

    /// To a password, stretched with Argon2id.
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

    /// To a key that both sides have: 32 bytes that nobody can guess, never a password.
    public init(_ algorithm: FileAlgorithm = .aes256GCM, key: borrowing Key<Deriving>) throws(CryptoError) {
        try self.init(FileHeader(algorithm, salt: Self.newSalt(), .key), key)
    }

    /// To one to 64 public keys, each of whose private keys opens it. It does not say whose they are.
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

    /// Encrypts everything from `source`. What `source` and `sink` throw ends it.
    public consuming func seal(from source: ByteSource, to sink: ByteSink) throws {
        try sink(start.span)
        try FileKeys.run(&cipher, from: source, to: sink)
    }
}

/// What writer and reader share.
enum FileKeys {
    /// Chunks in a piece: what is read, sealed and written at once stays in the processor's cache.
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

    /// Hands `body` the stream in pieces of `count` bytes, the last one shorter and, in an empty stream, empty; and
    /// whether it is the last.
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
