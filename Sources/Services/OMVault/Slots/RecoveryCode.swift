// A key on paper. Format: docs/formats/vault-format.md, "Recovery code".

public import OMItems
public import OMSecrets

/// A recovery code: 16 random bytes, written in letters with a checksum.
///
///     4G7K-9XQ2-…
public struct RecoveryCode: ~Copyable, Sendable {
    /// The secret that the slot stretches.
    public let secret: SecretBytes

    public static func random() -> RecoveryCode { RecoveryCode(SecretBytes.random(LetterCode.secretCount)) }

    private init(_ secret: consuming SecretBytes) { self.secret = secret }

    /// Reads a typed code. Dashes, spaces and case do not count. O is read as 0, I and L as 1.
    ///
    /// - Throws: ``VaultError/mistypedRecoveryCode``.
    public init(typed text: borrowing SecretBytes) throws(VaultError) {
        do throws(SecretsError) { secret = try LetterCode.read(text, checksum: .recoveryChecksum) } catch {
            throw .mistypedRecoveryCode
        }
    }

    public borrowing func duplicate() -> RecoveryCode { RecoveryCode(secret.duplicate()) }

    /// The code as it is shown once: `XXXX-XXXX-…`.
    public borrowing func text() -> SecretBytes { LetterCode.text(of: secret, checksum: .recoveryChecksum) }
}
