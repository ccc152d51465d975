public import OMSecrets

/// Encrypts one stream into one age file: docs/formats/age.md.
///
///     let sealer = try AgeSealer(recipients: [AgeRecipient("age1…")])
///     try sealer.seal(from: { … }, to: { … })
public struct AgeSealer: ~Copyable {
    /// The base-2 logarithm of scrypt's N: `age` takes this one too, and it costs about a second.
    public static let standardLogCost = 18
    /// The logarithms that a new file can have.
    public static let logCosts = 10...22

    private let start: [UInt8]
    private var cipher: ChunkCipher

    /// Encrypts to a password.
    ///
    /// - Parameter logCost: One of ``logCosts``. Readers may refuse more than 20.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/outOfMemory``.
    public init(password: borrowing Password, logCost: Int = standardLogCost) throws(CryptoError) {
        guard Self.logCosts.contains(logCost) else { throw .parameterOutOfRange }
        let fileKey = SecretBytes.random(AgeKeys.fileKeyCount)
        let salt = Random.bytes(AgeStanza.saltCount)
        let wrapKey = try AgeKeys.stretched(password, salt: salt, logCost: logCost)
        let stanza = try AgeStanza(
            .password, [Base64.encode(salt, .unpadded), "\(logCost)"], body: AgeKeys.seal(fileKey, under: wrapKey))
        self = try Self.begun([stanza], fileKey)
    }

    /// Encrypts to 1 to ``AgeFile/maximumKeys`` public keys. The private key of each opens the file. The file shows how many
    /// there are, and which SSH keys; it does not name those of `age1…`.
    ///
    /// - Throws: ``CryptoError/unusableAgeRecipient``.
    public init(recipients: [AgeRecipient]) throws(CryptoError) {
        guard (1...AgeFile.maximumKeys).contains(recipients.count) else { throw .unusableAgeRecipient }
        let fileKey = SecretBytes.random(AgeKeys.fileKeyCount)
        self = try Self.begun(Self.stanzas(fileKey, for: recipients), fileKey)
    }

    private static func stanzas(
        _ fileKey: borrowing SecretBytes, for recipients: [AgeRecipient]
    ) throws(CryptoError) -> [AgeStanza] {
        var stanzas: [AgeStanza] = []
        for recipient in recipients {
            do throws(CryptoError) { stanzas.append(try recipient.stanza(fileKey)) } catch { throw .unusableAgeRecipient }
        }
        return stanzas
    }

    private init(_ start: [UInt8], _ cipher: consuming ChunkCipher) {
        self.start = start
        self.cipher = cipher
    }

    private static func begun(
        _ stanzas: [AgeStanza], _ fileKey: borrowing SecretBytes
    ) throws(CryptoError) -> AgeSealer {
        let nonce = Random.bytes(AgeKeys.nonceCount)
        let header = try AgeHeader(stanzas, fileKey).encoded
        let key = try AgeKeys.payloadKey(fileKey, nonce: nonce)
        return AgeSealer(header + nonce, try ChunkCipher(.encrypt, .chacha20Poly1305, key: key))
    }

    /// Encrypts everything from `source`. An error of `source` or `sink` ends it.
    ///
    /// - Parameter isArmored: Whether the file is text.
    public consuming func seal(from source: ByteSource, to sink: ByteSink, isArmored: Bool = false) throws {
        guard isArmored else {
            try sink(start.span)
            return try FileKeys.run(&cipher, from: source, to: sink)
        }
        var armor = AgeArmor.Writer()
        try armor.write(start.span, to: sink)
        try FileKeys.run(&cipher, from: source) { try armor.write($0, to: sink) }
        try armor.finish(to: sink)
    }

    /// A short secret as a whole file, as text.
    consuming func armored(_ plaintext: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        var used = 0
        var text = SecretBuffer(capacity: plaintext.count * 2)
        do {
            try seal(
                from: { room in
                    let count = min(room.count, plaintext.count - used)
                    plaintext.withBytes { bytes in for index in 0..<count { room[index] = bytes[used + index] } }
                    used += count
                    return count
                }, to: { text.append($0) }, isArmored: true)
        } catch let error as CryptoError { throw error } catch { throw .outOfMemory }
        return text.finish()
    }
}
