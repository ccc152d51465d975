// The private keys of a member: of a device, or of the recovery code. Format: docs/formats/sync.md, "Keys of a device".

package import OMParcels
package import OMSecrets

/// How the keys of a member are derived. A process derives those for which it has the source: an agent of a locked vault has the
/// device key, and signs heads.
package enum MemberKeys {
    /// The vault and the salt of a device's keys.
    package struct Scope: Hashable, Sendable {
        /// The vault's id: 16 bytes.
        package let vault: [UInt8]
        /// 16 random bytes. A rekey makes new ones, so that the device gets other keys and another number.
        package let salt: [UInt8]

        package init(vault: [UInt8], salt: [UInt8]) {
            precondition(vault.count == 16 && salt.count == 16, "fixed sizes")
            (self.vault, self.salt) = (vault, salt)
        }

        fileprivate func context(_ label: Label) -> Context { Context(label, .bytes(vault), .bytes(salt)) }
    }

    /// It signs heads.
    package static func head(_ device: borrowing Key<Deriving>, _ scope: Scope) -> Key<Signing> {
        device.derive(scope.context(.syncHeadKey))
    }

    /// It signs entries of the roll.
    package static func member(_ root: borrowing Key<Deriving>, _ scope: Scope) -> Key<Signing> {
        root.derive(scope.context(.syncMemberKey))
    }

    /// It opens the lanes of the two stricter levels and the link.
    ///
    /// - Parameter whenUnlocked: The class key of when-unlocked.
    package static func wrapping(_ whenUnlocked: borrowing Key<Deriving>, _ scope: Scope) -> Key<Agreeing> {
        whenUnlocked.derive(scope.context(.syncWrappingKey))
    }

    /// It opens the lane of `always`.
    package static func alwaysWrapping(_ device: borrowing Key<Deriving>, _ scope: Scope) -> Key<Agreeing> {
        device.derive(scope.context(.syncWrappingAlways))
    }

    /// The public keys of a device.
    package static func publicKeys(
        device: borrowing Key<Deriving>, root: borrowing Key<Deriving>, whenUnlocked: borrowing Key<Deriving>, _ scope: Scope
    ) -> RollMember.Keys {
        RollMember.Keys(
            head: EdwardsSignature.publicKey(of: head(device, scope)),
            member: EdwardsSignature.publicKey(of: member(root, scope)),
            wrapping: MontgomeryPoint.publicKey(of: wrapping(whenUnlocked, scope)),
            alwaysWrapping: MontgomeryPoint.publicKey(of: alwaysWrapping(device, scope)))
    }
}
