// The recovery code as a member of the roll. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

package import OMParcels
package import OMSecrets

/// The keys that the 16 secret bytes of a recovery code give for one vault.
package struct RecoveryMember: ~Copyable {
    /// What the roll calls it.
    package static var name: DeviceName {
        guard let name = DeviceName("recovery code") else { preconditionFailure("a short text without control characters") }
        return name
    }

    package let member: Key<Signing>
    package let wrapping: Key<Agreeing>
    package let alwaysWrapping: Key<Agreeing>
    private let anchorKey: Key<Authenticating>
    private let vault: [UInt8]

    /// - Parameters:
    ///   - secret: The 16 bytes of the code.
    ///   - vault: The vault's id: 16 bytes.
    package init(_ secret: borrowing SecretBytes, vault: [UInt8]) {
        member = HKDF.key(from: secret, Context(.syncRecovery, .bytes(vault), .number(1)))
        wrapping = RecoveryWrapping.key(secret, vault: vault)
        alwaysWrapping = HKDF.key(from: secret, Context(.syncRecovery, .bytes(vault), .number(3)))
        anchorKey = HKDF.key(from: secret, Context(.syncAnchorKey))
        self.vault = vault
    }

    /// The public keys. The recovery code signs no heads, so the first is zeros.
    package var publicKeys: RollMember.Keys {
        RollMember.Keys(
            head: [UInt8](repeating: 0, count: 32), member: EdwardsSignature.publicKey(of: member),
            wrapping: MontgomeryPoint.publicKey(of: wrapping), alwaysWrapping: MontgomeryPoint.publicKey(of: alwaysWrapping))
    }

    /// The proof that an entry of the roll was made with the code: 32 bytes.
    package func anchor(of contents: RollEntry.Contents) -> [UInt8] {
        MAC.tag(of: contents.encoded, using: anchorKey, context: Context(.syncAnchor, .bytes(vault)))
    }

    /// Attack: all devices are lost, and a remote shows a roll that it made itself.
    package func anchors(_ entry: RollEntry) -> Bool {
        guard let anchor = entry.anchor else { return false }
        return ConstantTime.areEqual(self.anchor(of: entry.contents).span, anchor.span)
    }
}
