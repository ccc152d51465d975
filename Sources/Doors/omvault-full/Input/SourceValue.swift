internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// What a source gave: a secret in memory, or a longer value that was taken in beside the vault.
enum SourceValue: ~Copyable {
    case secret(SecretBytes)
    case spooled(SpooledValue)

    /// The secret. Only a reader with a spool gives longer values.
    consuming func secret() throws(Failure) -> SecretBytes {
        switch consume self {
        case .secret(let secret): return secret
        case .spooled: throw .unexpectedReply
        }
    }

    /// Whether a shown field can have this value.
    var isShowable: Bool {
        switch self {
        case .secret(let secret): secret.withBytes { Item.Field.shownValue($0) != nil }
        case .spooled: false
        }
    }

    /// Adds it to the fields of a change.
    consuming func put(at name: FieldName, in values: inout FieldValues) throws(VaultError) {
        switch consume self {
        case .secret(let secret): try values.put(secret, at: name)
        case .spooled(let value): try values.put(value, at: name)
        }
    }
}
