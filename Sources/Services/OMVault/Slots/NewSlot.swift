// A new key slot: a stretched secret, or a key that was handed in.

public import OMItems
public import OMSecrets

/// A slot to add. A class, so that a list can hold several.
public final class NewSlot: Sendable {
    public let kind: KeySlot.Kind
    let stretch: Argon2id.Parameters?
    let salt: [UInt8]
    let subject: [UInt8]
    let shared: SharedKey?
    let key: Key<Unlocking>

    /// A slot for a password.
    ///
    /// - Throws: ``VaultError/outOfMemory``, ``VaultError/unsupportedStretch``.
    public convenience init(
        password: borrowing Password, _ parameters: Argon2id.Parameters
    ) throws(VaultError) {
        try self.init(.password, stretching: password.bytes, parameters)
    }

    public convenience init(
        recovery code: borrowing RecoveryCode, _ parameters: Argon2id.Parameters
    ) throws(VaultError) {
        try self.init(.recovery, stretching: code.secret, parameters)
    }

    public convenience init(keyFile: borrowing VaultKeyFile) {
        self.init(.keyFile, subject: Self.nobody, key: keyFile.key())
    }

    /// A slot for a login: the login's id (16 bytes), and the key that the verified login handed out.
    public convenience init(login id: [UInt8], key: borrowing Key<Unlocking>) {
        precondition(id.count == 16, "a login id has 16 bytes")
        self.init(.login, subject: id, key: key.duplicate())
    }

    /// A slot for a recovery code that this device does not have.
    ///
    /// - Parameter owner: The code's wrapping key: 32 bytes. Whose key it is, the caller has checked.
    /// - Throws: ``VaultError/corrupt(_:)`` for a public key that is none.
    package convenience init(recoveryKey owner: [UInt8]) throws(VaultError) {
        let new = try authentic(.slot) { () throws(SecretsError) in try SharedKey.make(for: owner) }
        self.init(.sharedRecovery, subject: Self.nobody, shared: new.shared, key: new.key.duplicate())
    }

    /// A slot that the code of a shared recovery slot opens, without that code.
    ///
    /// - Returns: Nil for a slot of another kind.
    package convenience init?(sharing slot: KeySlot) throws(VaultError) {
        guard let owner = slot.recoveryKey else { return nil }
        try self.init(recoveryKey: owner)
    }

    private init(
        _ kind: KeySlot.Kind, stretching secret: borrowing SecretBytes, _ parameters: Argon2id.Parameters
    ) throws(VaultError) {
        let salt = Random.bytes(Argon2id.saltCount)
        let key: Key<Unlocking> = try stretching { () throws(SecretsError) in
            try Argon2id.stretch(secret, salt: salt, parameters)
        }
        (self.kind, stretch, self.salt, subject) = (kind, parameters, salt, Self.nobody)
        shared = nil
        self.key = key
    }

    private init(
        _ kind: KeySlot.Kind, subject: [UInt8], shared: SharedKey? = nil, key: consuming Key<Unlocking>
    ) {
        (self.kind, stretch, self.subject, self.shared) = (kind, nil, subject, shared)
        salt = [UInt8](repeating: 0, count: Argon2id.saltCount)
        self.key = key
    }

    /// A slot of the same kind for the same secret with another stretch, because the old slot is below the policy.
    convenience init(
        _ slot: KeySlot, stretching secret: borrowing SecretBytes, with parameters: Argon2id.Parameters
    ) throws(VaultError) {
        try self.init(slot.kind, stretching: secret, parameters)
    }

    /// Whether a slot of the vault gives way to this one: that of the same login, or its shared recovery slot.
    func replaces(_ slot: KeySlot) -> Bool {
        switch kind {
        case .login: slot.login == subject
        case .sharedRecovery: slot.kind == .sharedRecovery
        case .password, .recovery, .keyFile: false
        }
    }

    private static let nobody = [UInt8](repeating: 0, count: 16)
}
