// The secret that opens a slot.

internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMVault

/// A typed password or code, a key file that was read, or a login that was checked.
enum SlotSecret: ~Copyable {
    case password(Password)
    case recovery(RecoveryCode)
    case keyFile(VaultKeyFile)
    case login(VerifiedLogin)

    /// The key for `slot`, whose secret is of the same kind.
    borrowing func key(for slot: KeySlot) throws(VaultError) -> Key<Unlocking> {
        switch self {
        case .password(let password): try slot.key(stretching: password.bytes)
        case .recovery(let code): try slot.key(stretching: code.secret)
        case .keyFile(let file): file.key()
        case .login(let login): login.unlock.duplicate()
        }
    }

    /// A new slot that this secret opens.
    borrowing func newSlot(_ parameters: Argon2id.Parameters) throws(VaultError) -> NewSlot {
        switch self {
        case .password(let password): try NewSlot(password: password, parameters)
        case .recovery(let code): try NewSlot(recovery: code, parameters)
        case .keyFile(let file): NewSlot(keyFile: file)
        case .login(let login): NewSlot(login: login.id, key: login.unlock)
        }
    }

    /// A slot in the place of `old`, which this secret opens.
    borrowing func newSlot(like old: KeySlot, _ parameters: Argon2id.Parameters) throws(VaultError) -> NewSlot {
        // A shared slot stays a shared slot: the next rekey needs no code for it.
        if let shared = try NewSlot(sharing: old) { return shared }
        return try newSlot(parameters)
    }

    /// Replaces a slot that is weaker than the policy, if its kind is stretched.
    borrowing func raiseStretch(of slot: KeySlot, in vault: borrowing Vault) throws(VaultError) -> KeySlot? {
        switch self {
        case .password(let password): try vault.raiseStretch(of: slot, password.bytes)
        case .recovery(let code): try vault.raiseStretch(of: slot, code.secret)
        case .keyFile: nil
        case .login: nil
        }
    }
}

extension KeySlot.Kind {
    /// The name for `--type`.
    var name: String {
        switch self {
        case .password: "password"
        case .recovery: "recovery"
        case .keyFile: "file"
        case .login: "login"
        case .sharedRecovery: "shared-recovery"
        }
    }

    var noun: String {
        switch self {
        case .password: "password"
        case .recovery, .sharedRecovery: "recovery code"
        case .keyFile: "key file"
        case .login: "login"
        }
    }

    /// The option for the source of its secret.
    var option: String {
        switch self {
        case .password, .login: "--password-from"
        case .recovery, .sharedRecovery: "--recovery-from"
        case .keyFile: "--key-file-from"
        }
    }
}
