// The origin of a key: a file, a source of secrets, or a vault. Only a reference into a vault opens the vault.

internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The origin of a key. The key itself is not yet read.
enum KeyOrigin {
    /// The source of an option in ``SecretSources``.
    case option(String)
    /// A path, or `-`.
    case file(String)
    case vault(ValueReference)

    /// The file of `--in`, or the key pair of `--tag`.
    init(file: String?, tag: String?) throws {
        switch (file, tag) {
        case (let file?, nil): self = ValueReference.key(file).map { .vault($0) } ?? .file(file)
        case (nil, let tag?): self = .vault(try ValueReference(tag: try KeyPairTag(tag)))
        case (nil, nil): throw Failure(.usage, "no key given", hint: "give --in FILE, or --tag TAG for a key pair in the vault")
        default: throw Failure(usage: "give --in or --tag, not both")
        }
    }

    /// - Parameter half: The field if the reference names none: `private` or `public`.
    func bytes(
        _ half: String, secrets: borrowing SecretSources, unlock: UnlockOptions, context: CommandContext
    ) throws -> SecretBytes {
        switch self {
        case .option(let name):
            return try secrets.read(name, prompt: "Key", keepNewline: true, maximum: KeyFile.maximumCount)
        case .file(let path):
            return try InputFile(path).readWhole(maximum: KeyFile.maximumCount, hint: "a key is a short file")
        case .vault(let reference):
            let path = try reference.path(default: half)
            return try VaultAccess(context, vault: reference.vault)
                .read(.secret(path, revision: nil), secrets, unlock).secret()
        }
    }
}
