// The text of age's keys, and the lines of their files.

public import OMSecrets

enum AgeText {
    static let identityPrefix = "AGE-SECRET-KEY-"
    /// What the names of plugins' keys begin with, besides `age1`.
    private static let pluginPrefix = "AGE-PLUGIN-"

    /// The lines with a key: not empty, and no comment.
    static func lines(_ bytes: Span<UInt8>, atMost most: Int = .max) -> [Range<Int>] {
        var lines = Lines(bytes)
        var found: [Range<Int>] = []
        while found.count < most, let line = lines.next(bytes) {
            if !line.isEmpty, bytes[line.lowerBound] != UInt8(ascii: "#") { found.append(line) }
        }
        return found
    }

    /// Whether a file begins as a file of identities does.
    static func isIdentities(_ bytes: Span<UInt8>) -> Bool {
        guard let first = lines(bytes, atMost: 1).first else { return false }
        return bytes.has(identityPrefix, at: first) || bytes.has(pluginPrefix, at: first)
    }

    /// Whether a file begins as a file of age's own recipients does.
    static func isOwnRecipients(_ bytes: Span<UInt8>) -> Bool {
        guard let first = lines(bytes, atMost: 1).first else { return false }
        return bytes.has("\(AgeRecipient.prefix)1", at: first)
    }

    /// The private key of X25519 in one line of text.
    static func privateKey(_ line: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        guard let key = Bech32.decode(line, prefix: identityPrefix) else {
            // A post-quantum key, or one of a plugin, has another prefix or another length.
            let isOther =
                line.has("\(identityPrefix)PQ-1", at: line.indices) || line.has(pluginPrefix, at: line.indices)
            throw isOther ? .unsupportedKey(.ageIdentity) : .malformedKey(.ageIdentity)
        }
        return try PrivateKey(x25519: key)
    }

    /// The only key of a file of identities.
    static func onlyPrivateKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PrivateKey {
        let lines = lines(bytes)
        guard let first = lines.first else { throw .malformedKey(.ageIdentity) }
        guard lines.count == 1 else { throw .severalKeys }
        return try privateKey(bytes.extracting(first))
    }

    /// The public key of X25519 in one line of text.
    static func publicKey(_ line: Span<UInt8>) throws(CryptoError) -> PublicKey {
        guard let key = Bech32.decode(line, prefix: AgeRecipient.prefix) else {
            throw isOtherRecipient(line) ? .unsupportedKey(.ageRecipient) : .malformedKey(.ageRecipient)
        }
        return try key.withBytes { (bytes) throws(CryptoError) in
            guard AgeRecipient.isReduced(bytes) else { throw .malformedKey(.ageRecipient) }
            return try PublicKey(.x25519, raw: bytes)
        }
    }

    /// The only key of a file of recipients.
    static func onlyPublicKey(_ bytes: Span<UInt8>) throws(CryptoError) -> PublicKey {
        let lines = lines(bytes)
        guard let first = lines.first else { throw .malformedKey(.ageRecipient) }
        guard lines.count == 1 else { throw .severalKeys }
        return try publicKey(bytes.extracting(first))
    }

    /// `age1pq1…`, `age1yubikey1…`: behind the first `1` is a name and another `1`, which is no digit of Bech32.
    private static func isOtherRecipient(_ line: Span<UInt8>) -> Bool {
        let start = AgeRecipient.prefix.utf8.count + 1
        guard line.count > start, line.has("\(AgeRecipient.prefix)1", at: line.indices) else { return false }
        return (start..<line.count).contains { line[$0] == UInt8(ascii: "1") }
    }

    static func recipient(_ key: [UInt8]) -> String {
        Bech32.encode(key.span, prefix: AgeRecipient.prefix).withBytes { $0.text($0.indices) }
    }

    /// The file of an identity, as `age-keygen` writes it: its recipient as a comment, then the key.
    static func text(ofIdentity key: borrowing PrivateKey) throws(CryptoError) -> SecretBytes {
        guard key.kind == .x25519 else { throw .wrongKeyType }
        let raw = try key.rawBytes()
        var text = SecretBuffer()
        text.append(Array("# public key: \(recipient(try key.publicKey().rawBytes))\n".utf8).span)
        text.append(raw.withBytes { Bech32.encode($0, prefix: identityPrefix) })
        text.append(UInt8(ascii: "\n"))
        return text.finish()
    }
}

extension PrivateKey {
    /// An identity file of age: `# public key: age1…` and `AGE-SECRET-KEY-1…`. It is not encrypted.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is of X25519.
    public func unencryptedAgeIdentity() throws(CryptoError) -> SecretBytes { try AgeText.text(ofIdentity: self) }

    /// An identity file of age inside an age file for a password, as text.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is of X25519; ``CryptoError/outOfMemory``.
    public func encryptedAgeIdentity(
        password: borrowing Password, logCost: Int = AgeSealer.standardLogCost
    ) throws(CryptoError) -> SecretBytes {
        let text = try AgeText.text(ofIdentity: self)
        return try AgeSealer(password: password, logCost: logCost).armored(text)
    }
}
