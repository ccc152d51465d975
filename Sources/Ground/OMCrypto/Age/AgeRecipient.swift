// Public keys that an age file is encrypted to: age's own, and those of OpenSSH.

public import OMSecrets

/// A public key to encrypt an age file to.
///
///     let ada = try AgeRecipient("age1…")
///     let bob = try AgeRecipient("ssh-ed25519 AAAA… bob")
public struct AgeRecipient: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The public key.
        case x25519([UInt8])
        /// The key as OpenSSH encodes it, and as a point of X25519's curve.
        case sshEd25519(blob: [UInt8], point: [UInt8])
        /// The key as OpenSSH encodes it.
        case sshRSA(blob: [UInt8])
    }

    let kind: Kind

    static let prefix = "age"
    /// The fewest bits of an RSA key.
    static let fewestBits = 2048

    /// - Parameter text: `age1…`, or a line of OpenSSH that begins with `ssh-ed25519` or `ssh-rsa`.
    /// - Throws: ``CryptoError/malformedKey(_:)``, ``CryptoError/unsupportedKey(_:)``, ``CryptoError/unusableAgeRecipient``,
    ///   ``CryptoError/invalidKey``.
    public init(_ text: String) throws(CryptoError) {
        let bytes = Array(text.utf8)
        guard !OpenSSHKey.isPublic(bytes.span) else {
            try self.init(OpenSSHKey.publicKey(bytes.span))
            return
        }
        try self.init(AgeText.publicKey(bytes.span))
    }

    /// - Parameter key: X25519, Ed25519, or RSA of at least 2048 bits.
    /// - Throws: ``CryptoError/unusableAgeRecipient`` for another key, ``CryptoError/keyUseNotAllowed``.
    public init(_ key: borrowing PublicKey) throws(CryptoError) {
        try key.uses.requireAsPeer([.wrap, .encrypt, .derive])
        switch key.kind {
        case .x25519:
            let raw = try key.rawBytes
            guard Self.isReduced(raw.span) else { throw .unusableAgeRecipient }
            kind = .x25519(raw)
        case .ed25519:
            let point = EdwardsPoint.onMontgomeryCurve(try key.rawBytes)
            guard let point else { throw .unusableAgeRecipient }
            kind = .sshEd25519(blob: try key.openSSHBlob().blob, point: point)
        case .rsa(let bits) where bits >= Self.fewestBits: kind = .sshRSA(blob: try key.openSSHBlob().blob)
        case .rsa, .ec: throw .unusableAgeRecipient
        }
    }

    /// The recipients in a file of them: one a line. Empty lines, and lines that begin with `#`, are skipped.
    ///
    /// - Throws: As ``init(_:)``; ``CryptoError/unusableAgeRecipient`` for no recipient, or more than ``AgeFile/maximumKeys``.
    public static func list(in text: borrowing SecretBytes) throws(CryptoError) -> [AgeRecipient] {
        var recipients: [AgeRecipient] = []
        try text.withBytes { (bytes) throws(CryptoError) in
            for line in AgeText.lines(bytes) { recipients.append(try AgeRecipient(bytes.text(line))) }
        }
        guard (1...AgeFile.maximumKeys).contains(recipients.count) else { throw .unusableAgeRecipient }
        return recipients
    }

    /// Whether a file begins as a file of recipients does.
    public static func isList(_ text: borrowing SecretBytes) -> Bool {
        text.withBytes { bytes in
            guard let first = AgeText.lines(bytes, atMost: 1).first else { return false }
            return bytes.has("\(prefix)1", at: first) || OpenSSHKey.isPublic(bytes.extracting(first))
        }
    }

    /// The number of the first line, from 1, that is no recipient. Nil if all are.
    public static func faultyLine(in text: borrowing SecretBytes) -> Int? {
        text.withBytes { bytes in
            AgeText.lines(bytes).first { (try? AgeRecipient(bytes.text($0))) == nil }
                .map { line in 1 + (0..<line.lowerBound).count(where: { bytes[$0] == UInt8(ascii: "\n") }) }
        }
    }

    /// Whether a public key of X25519 is below 2^255 - 19. An agreement takes the others too, but a private key has only one
    /// public half, and that is in the salt of a stanza: a file for another one would not open.
    static func isReduced(_ key: Span<UInt8>) -> Bool {
        key[31] < 0x7F || key[31] == 0x7F && (key[0] < 0xED || (1..<31).contains { key[$0] != 0xFF })
    }

    /// `age1…` for X25519; for the others OpenSSH's line, without a comment.
    public var text: String {
        switch kind {
        case .x25519(let key): AgeText.recipient(key)
        case .sshEd25519(let blob, _): "\(AgeStanza.Kind.sshEd25519.rawValue) \(Base64.encode(blob))"
        case .sshRSA(let blob): "\(AgeStanza.Kind.sshRSA.rawValue) \(Base64.encode(blob))"
        }
    }
}

extension AgeRecipient {
    /// A stanza with `fileKey` for this recipient.
    func stanza(_ fileKey: borrowing SecretBytes) throws(CryptoError) -> AgeStanza {
        switch kind {
        case .x25519(let key):
            let ephemeral = try X25519Identity.random()
            let shared = try ephemeral.agree(with: key)
            let share = ephemeral.publicKey
            let wrapKey = try AgeKeys.wrapKey(shared, salt: share + key, AgeLabel.x25519)
            return try AgeStanza(
                .x25519, [Base64.encode(share, .unpadded)], body: AgeKeys.seal(fileKey, under: wrapKey))
        case .sshEd25519(let blob, let point):
            let ephemeral = try X25519Identity.random()
            let shared = try ephemeral.agree(with: AgeSSHTweak(blob).times(point))
            let share = ephemeral.publicKey
            let wrapKey = try AgeKeys.wrapKey(shared, salt: share + point, AgeLabel.sshEd25519)
            return try AgeStanza(
                .sshEd25519, [Base64.encode(try Self.tag(blob), .unpadded), Base64.encode(share, .unpadded)],
                body: AgeKeys.seal(fileKey, under: wrapKey))
        case .sshRSA(let blob):
            let wrapped = try OpenSSHKey.publicKey(blob: blob).wrap(fileKey, Self.oaep)
            return try AgeStanza(.sshRSA, [Base64.encode(try Self.tag(blob), .unpadded)], body: wrapped)
        }
    }

    static let oaep = OAEP(.sha256, label: Array(AgeLabel.sshRSA.utf8))

    /// The bytes of a stanza that say which SSH key it is for.
    static func tag(_ blob: [UInt8]) throws(CryptoError) -> [UInt8] {
        Array(try Digest.of(blob, .sha256).prefix(AgeStanza.tagCount))
    }
}

/// t of docs/formats/age.md, "Stanzas": it binds an agreement to an SSH key. X25519(e, X25519(t, M)) of the writer is
/// X25519(m, X25519(t, E)) of the reader. t is public, and so is its product with a public key.
struct AgeSSHTweak: ~Copyable {
    private let scalar: X25519Identity

    init(_ blob: [UInt8]) throws(CryptoError) {
        let nothing = SecretBytes(copying: [])
        scalar = try X25519Identity(privateKey: AgeKeys.wrapKey(nothing, salt: blob, AgeLabel.sshEd25519))
    }

    func times(_ point: [UInt8]) throws(CryptoError) -> [UInt8] {
        try scalar.agree(with: point).withBytes { [UInt8](copying: $0) }
    }
}
