// Where a key comes from: a file, any source of secrets, or a vault. Only a reference into a vault opens one.

internal import OMCrypto
internal import OMSecrets
internal import OMVault

/// A key's place, found but not read.
enum KeyOrigin {
    /// What an option of ``SecretSources`` gives.
    case option(String)
    /// A path, or `-`.
    case file(String)
    case vault(ItemURI)

    /// `--in`, or the tag beside it.
    init(file: String?, tag: String?) throws {
        switch (file, tag) {
        case (let file?, nil): self = ItemURI(file).map { .vault($0) } ?? .file(file)
        case (nil, let tag?): self = .vault(ItemURI(tag: try KeyPairTag(tag)))
        case (nil, nil): throw Failure(.usage, "no key given", hint: "give --in FILE, or --tag TAG for a key pair in the vault")
        default: throw Failure(.usage, "give --in or --tag, not both")
        }
    }

    /// - Parameter half: `private` or `public`: the field where the reference names none.
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
