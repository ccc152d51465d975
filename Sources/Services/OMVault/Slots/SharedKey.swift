// The two public keys of a shared recovery slot. Format: docs/formats/vault-format.md, "Shared recovery slot".

internal import OMParcels
internal import OMRecords
internal import OMSecrets

/// The keys between which the key of a shared recovery slot is agreed.
struct SharedKey: Hashable, Sendable {
    static let count = 64

    /// Made for this slot alone. Its private key is forgotten.
    let sender: [UInt8]
    /// That of the recovery code.
    let owner: [UInt8]

    /// Makes the key of a slot that the owner of a public key can open.
    ///
    /// - Throws: ``SecretsError/cannotOpen`` for a public key that is none.
    static func make(for owner: [UInt8]) throws(SecretsError) -> NewSharedKey {
        let once = Key<Agreeing>.random()
        let shared = SharedKey(sender: MontgomeryPoint.publicKey(of: once), owner: owner)
        return NewSharedKey(shared: shared, key: try MontgomeryPoint.agree(once, with: owner).derive(shared.context))
    }

    /// The key that a recovery code gives. Another code gives another key.
    ///
    /// - Parameter secret: The 16 bytes of the code.
    func key(_ secret: borrowing SecretBytes, vault: [UInt8]) throws(SecretsError) -> Key<Unlocking> {
        try MontgomeryPoint.agree(RecoveryWrapping.key(secret, vault: vault), with: sender).derive(context)
    }

    private var context: Context { Context(.slotAgreed, .bytes(sender), .bytes(owner)) }

    // MARK: - Bytes

    var encoded: [UInt8] { sender + owner }

    init(decoding cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        (sender, owner) = (try cursor.take(32, in: span), try cursor.take(32, in: span))
        // A key with which the secret is zero opens nothing. To find one takes longer than to read a header.
        guard MontgomeryPoint.isCanonical(sender), MontgomeryPoint.isCanonical(owner) else { throw MalformedBytes() }
    }

    private init(sender: [UInt8], owner: [UInt8]) { (self.sender, self.owner) = (sender, owner) }
}

/// The key of a new slot, and what its owner needs to find it.
struct NewSharedKey: ~Copyable {
    let shared: SharedKey
    let key: Key<Unlocking>
}
