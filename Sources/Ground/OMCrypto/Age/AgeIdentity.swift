// Private keys that open age files.

public import OMSecrets

/// A private key that opens an age file: X25519, or Ed25519 or RSA for files that are encrypted to an SSH key.
public final class AgeIdentity: Sendable {
    private let key: PrivateKey
    /// The public half, to encrypt to.
    public let recipient: AgeRecipient

    /// - Throws: ``CryptoError/unusableAgeRecipient`` for a key of another type, ``CryptoError/keyUseNotAllowed``.
    public init(_ key: consuming PrivateKey) throws(CryptoError) {
        try key.uses.require([.unwrap, .decrypt, .derive])
        var half = try key.publicKey()
        half.uses = .any
        recipient = try AgeRecipient(half)
        // Decrypting a file needs a key agreement, so a key that allows either use allows both.
        key.uses = .any
        self.key = key
    }

    /// The identities in a file of them: one a line. Empty lines, and lines that begin with `#`, are skipped.
    ///
    /// - Parameter skipsUnknown: Whether keys of other kinds, such as those of plugins, are skipped if there is also a known one.
    /// - Throws: ``CryptoError/malformedKey(_:)``, also for no identity; ``CryptoError/unsupportedKey(_:)`` for a kind that
    ///   omvault does not know; ``CryptoError/unusableAgeRecipient`` for more than ``AgeFile/maximumKeys``.
    public static func list(
        in text: borrowing SecretBytes, skipsUnknown: Bool = false
    ) throws(CryptoError) -> [AgeIdentity] {
        try text.withBytes { (bytes) throws(CryptoError) in
            let lines = AgeText.lines(bytes)
            guard !lines.isEmpty else { throw .malformedKey(.ageIdentity) }
            guard lines.count <= AgeFile.maximumKeys else { throw .unusableAgeRecipient }
            var identities: [AgeIdentity] = []
            var unknown: CryptoError?
            for line in lines {
                do throws(CryptoError) {
                    identities.append(try AgeIdentity(AgeText.privateKey(bytes.extracting(line))))
                } catch {
                    guard skipsUnknown, error == .unsupportedKey(.ageIdentity) else { throw error }
                    unknown = error
                }
            }
            if identities.isEmpty, let unknown { throw unknown }
            return identities
        }
    }

    /// Whether a file begins as a file of identities does.
    public static func isList(_ text: borrowing SecretBytes) -> Bool { text.withBytes { AgeText.isIdentities($0) } }

    /// The file key. Nil if the stanza is for another key.
    ///
    /// - Throws: ``CryptoError/malformedAge`` for a share of low order, with which every private key has the same secret.
    func open(_ stanza: AgeStanza) throws(CryptoError) -> SecretBytes? {
        switch (stanza.content, recipient.kind) {
        case (.x25519(let share), .x25519(let mine)):
            let shared = try agree(with: share)
            return AgeKeys.open(stanza.body, under: try AgeKeys.wrapKey(shared, salt: share + mine, AgeLabel.x25519))
        case (.sshEd25519(let tag, let share), .sshEd25519(let blob, let point)):
            guard tag == (try AgeRecipient.tag(blob)) else { return nil }
            let shared = try agree(with: tweaked(share, blob))
            return AgeKeys.open(stanza.body, under: try AgeKeys.wrapKey(shared, salt: share + point, AgeLabel.sshEd25519))
        case (.sshRSA(let tag), .sshRSA(let blob)):
            guard tag == (try AgeRecipient.tag(blob)) else { return nil }
            guard let fileKey = try? key.unwrap(stanza.body, AgeRecipient.oaep) else { return nil }
            guard fileKey.count == AgeKeys.fileKeyCount else { throw .malformedAge }
            return fileKey
        default: return nil
        }
    }

    private func tweaked(_ share: [UInt8], _ blob: [UInt8]) throws(CryptoError) -> [UInt8] {
        do throws(CryptoError) { return try AgeSSHTweak(blob).times(share) } catch { throw .malformedAge }
    }

    private func agree(with share: [UInt8]) throws(CryptoError) -> SecretBytes {
        let identity = key.kind == .ed25519 ? try montgomery() : try X25519Identity(key.duplicate())
        do throws(CryptoError) { return try identity.agree(with: share) } catch { throw .malformedAge }
    }

    /// The private key of Ed25519 as one of X25519: the first half of SHA-512 of the seed (RFC 8032 section 5.1.5).
    private func montgomery() throws(CryptoError) -> X25519Identity {
        let digest = try Digest.of(key.rawBytes(), .sha512)
        return try X25519Identity(privateKey: digest.withBytes { SecretBytes(copying: $0.extracting(0..<32)) })
    }
}
