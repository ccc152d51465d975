// The wrapping key of a recovery code. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

package import OMSecrets

/// What is sealed for the recovery code, is sealed to its wrapping key: lanes in the roll, and the root key in a slot.
package enum RecoveryWrapping {
    /// - Parameters:
    ///   - secret: The 16 bytes of the code.
    ///   - vault: The vault's id: 16 bytes.
    package static func key(_ secret: borrowing SecretBytes, vault: [UInt8]) -> Key<Agreeing> {
        HKDF.key(from: secret, Context(.syncRecovery, .bytes(vault), .number(2)))
    }
}
