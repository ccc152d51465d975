public import OMSecrets

/// A container of which only the header has been read.
///
///     let file = try SealedFile(from: source)
///     let opener = try file.unlock(with: password)
///     try opener.open(from: source, to: sink)
public struct SealedFile: Sendable {
    /// The kind of key that opens the container.
    public enum Lock: Hashable, Sendable {
        case password
        /// A key of 32 bytes.
        case key
        /// The private key that belongs to any of `count` public keys.
        case recipients(count: Int)
    }

    private let header: FileHeader
    private let bytes: [UInt8]
    private let commitment: [UInt8]

    public var algorithm: FileAlgorithm { header.algorithm }

    public var lock: Lock {
        switch header.lock {
        case .password: .password
        case .key: .key
        case .recipients(let stanzas): .recipients(count: stanzas.count)
        }
    }

    /// Of the format, as the header has it.
    public var version: Int { Int(FileHeader.version) }

    /// What the password is stretched with; nil for the other locks.
    public var stretch: Argon2id.Parameters? {
        guard case .password(let parameters, _) = header.lock else { return nil }
        return parameters
    }

    /// The bytes of plaintext in each chunk but the last.
    public var chunkCount: Int { ChunkCipher.plainCount }

    /// Whether a file that begins so is a container, or pretends to be.
    ///
    /// - Parameter start: At least ``startCount`` bytes.
    public static func isContainer(_ start: Span<UInt8>) -> Bool {
        guard start.count >= startCount else { return false }
        return FileHeader.magic.indices.allSatisfy { start[$0] == FileHeader.magic[$0] }
    }

    public static let startCount = FileHeader.magic.count

    /// How many bytes of plaintext there are.
    ///
    /// - Parameter sealed: The number of bytes behind the header and its commitment.
    /// - Throws: ``CryptoError/damagedContainer`` for a number that no container has.
    public static func plaintextCount(ofSealed sealed: Int) throws(CryptoError) -> Int {
        let (whole, rest) = sealed.quotientAndRemainder(dividingBy: ChunkCipher.sealedCount)
        // The last chunk is empty only when it is the only one.
        guard rest == 0 ? whole > 0 : rest > ChunkCipher.tagCount || rest == ChunkCipher.tagCount && whole == 0 else {
            throw .damagedContainer
        }
        return sealed - ChunkCipher.tagCount * (rest == 0 ? whole : whole + 1)
    }

    /// Reads the header and leaves `source` at the first chunk.
    ///
    /// - Throws: ``CryptoError/notAContainer``, ``CryptoError/laterContainer(_:)``, ``CryptoError/damagedContainer``,
    ///   and the errors of `source`.
    public init(from source: ByteSource) throws {
        let fixed = try Self.read(FileHeader.fixedCount, from: source)
        let rest = try FileHeader.lockCount(fixed: fixed) + FileHeader.commitmentCount
        let behind = try Self.read(rest, from: source)
        guard behind.count == rest else { throw CryptoError.damagedContainer }
        bytes = fixed + behind.dropLast(FileHeader.commitmentCount)
        header = try FileHeader(parsing: bytes)
        commitment = Array(behind.suffix(FileHeader.commitmentCount))
    }

    /// - Parameter limit: How much work the file may ask for.
    /// - Throws: ``CryptoError/wrongUnlockMethod``, ``CryptoError/workTooHigh``, ``CryptoError/wrongFileKey``,
    ///   ``SecretsError/outOfMemory``.
    public func unlock(with password: borrowing Password, limit: WorkLimit = .standard) throws -> FileOpener {
        guard case .password(let parameters, let salt) = header.lock else { throw CryptoError.wrongUnlockMethod }
        try limit.check(
            .argon2(
                .argon2id, .init(memoryKiB: Int(parameters.memoryKiB), passes: Int(parameters.passes), lanes: 1)))
        return try opener(Argon2id.stretch(password.bytes, salt: salt, parameters))
    }

    /// - Throws: ``CryptoError/wrongUnlockMethod``, ``CryptoError/wrongFileKey``.
    public func unlock(with key: borrowing Key<Deriving>) throws(CryptoError) -> FileOpener {
        guard case .key = header.lock else { throw .wrongUnlockMethod }
        return try opener(key)
    }

    /// - Throws: ``CryptoError/wrongUnlockMethod``, ``CryptoError/wrongFileKey``.
    public func unlock(
        with identity: borrowing X25519Identity
    ) throws(CryptoError) -> FileOpener {
        guard case .recipients(let stanzas) = header.lock else { throw .wrongUnlockMethod }
        for stanza in stanzas {
            guard let key = stanza.open(identity, salt: header.salt) else { continue }
            return try opener(key)
        }
        throw .wrongFileKey
    }

    /// Compares the commitment before it decrypts a chunk. AES-GCM and ChaCha20-Poly1305 do not commit to their key: without
    /// this, an attacker could try thousands of passwords at once with one chunk (Len, Grubbs, Ristenpart 2021).
    private func opener<Use: DerivingUse>(_ fileKey: borrowing Key<Use>) throws(CryptoError) -> FileOpener {
        guard ConstantTime.areEqual(FileKeys.commitment(fileKey, bytes).span, commitment.span) else {
            throw .wrongFileKey
        }
        return try FileOpener(ChunkCipher(.decrypt, header.algorithm, key: FileKeys.chunkKey(fileKey, bytes)))
    }

    /// Reads `count` bytes, or fewer if the source ends.
    private static func read(_ count: Int, from source: ByteSource) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var used = 0
        while used < count {
            var piece = [UInt8](repeating: 0, count: count - used)
            var span = piece.mutableSpan
            let read = try source(&span)
            guard read > 0 else { break }
            bytes.replaceSubrange(used..<used + read, with: piece.prefix(read))
            used += read
        }
        return Array(bytes.prefix(used))
    }
}
