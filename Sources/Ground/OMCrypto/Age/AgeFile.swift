public import OMSecrets

/// An age file of which only the header has been read: docs/formats/age.md.
///
///     let reader = AgeReader(after: start)
///     let bytes: ByteSource = { try reader.read(into: &$0, from: source) }
///     let file = try AgeFile(from: bytes)
///     let opener = try file.unlock(with: AgeIdentity.list(in: keys))
///     try opener.open(from: bytes, to: sink)
public struct AgeFile: Sendable {
    /// The most identities that are tried, and the most recipients of a new file.
    public static let maximumKeys = 64
    /// Of the format.
    public static let version = 1
    /// The bytes of plaintext in each chunk but the last.
    public static let chunkCount = ChunkCipher.plainCount

    private let header: AgeHeader
    private let nonce: [UInt8]

    /// Reads the header and leaves `source` at the first chunk.
    ///
    /// - Throws: ``CryptoError/malformedAge``, ``CryptoError/laterAge``, ``CryptoError/malformedArmor``, and the errors of
    ///   `source`.
    public init(from source: ByteSource) throws {
        header = try AgeHeader(from: source)
        var nonce: [UInt8] = []
        while nonce.count < AgeKeys.nonceCount {
            var piece = [UInt8](repeating: 0, count: AgeKeys.nonceCount - nonce.count)
            var room = piece.mutableSpan
            let count = try source(&room)
            guard count > 0 else { throw CryptoError.malformedAge }
            nonce += piece.prefix(count)
        }
        self.nonce = nonce
    }

    /// Whether a password opens the file. Otherwise a private key does.
    public var opensWithPassword: Bool { passwordLogCost != nil }

    /// The base-2 logarithm of scrypt's N, as the file gives it. Nil if no password opens the file.
    public var passwordLogCost: Int? {
        guard case .scrypt(_, let logCost)? = header.stanzas.first?.content else { return nil }
        return logCost
    }

    /// The types of the recipients, in the order of the file: `X25519`, `ssh-ed25519`. Types that omvault does not know are text
    /// of the file: escape it before you show it.
    public var recipientTypes: [String] { header.stanzas.map(\.type) }

    /// - Parameter limit: How much work the file may ask for.
    /// - Throws: ``CryptoError/wrongUnlockMethod``, ``CryptoError/workTooHigh``, ``CryptoError/wrongFileKey``,
    ///   ``CryptoError/damagedContainer`` for a changed header, ``CryptoError/outOfMemory``.
    public func unlock(with password: borrowing Password, limit: WorkLimit = .standard) throws(CryptoError) -> FileOpener {
        guard let stanza = header.stanzas.first, case .scrypt(let salt, let logCost) = stanza.content else {
            throw .wrongUnlockMethod
        }
        // Attack: a file asks for so much work that the machine is busy for days.
        try limit.check(.scrypt(logCost: logCost, blockSize: 8, parallelism: 1))
        let wrapKey = try AgeKeys.stretched(password, salt: salt, logCost: logCost)
        guard let fileKey = AgeKeys.open(stanza.body, under: wrapKey) else { throw .wrongFileKey }
        return try opener(fileKey)
    }

    /// - Throws: ``CryptoError/wrongUnlockMethod`` if a password opens the file, ``CryptoError/noMatchingIdentity``,
    ///   ``CryptoError/malformedAge``, ``CryptoError/damagedContainer`` for a changed header.
    public func unlock(with identities: [AgeIdentity]) throws(CryptoError) -> FileOpener {
        guard !opensWithPassword else { throw .wrongUnlockMethod }
        for stanza in header.stanzas {
            for identity in identities {
                guard let fileKey = try identity.open(stanza) else { continue }
                return try opener(fileKey)
            }
        }
        throw .noMatchingIdentity
    }

    private func opener(_ fileKey: borrowing SecretBytes) throws(CryptoError) -> FileOpener {
        try header.check(fileKey)
        return try FileOpener(
            ChunkCipher(.decrypt, .chacha20Poly1305, key: AgeKeys.payloadKey(fileKey, nonce: nonce)))
    }
}
