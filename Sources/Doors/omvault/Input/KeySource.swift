// Where a key comes from: a file, any source of secrets, or a vault. Only what names a vault opens one.

internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMVault

/// `om://VAULT/ITEM` or `om://VAULT/ITEM/FIELD`.
struct VaultReference: Hashable, Sendable {
    let vault: String?
    let item: String
    let field: String?

    /// Nil for a text that does not start with `om://`, or names no item.
    init?(_ text: String) {
        guard text.hasPrefix("om://") else { return nil }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (vault, item, field) = (parts[0], parts[1], parts.count == 3 ? parts[2] : nil)
    }

    /// The item of a key pair's tag, in the vault of `--vault`.
    init(tag: KeyPairTag) { (vault, item, field) = (nil, Self.tagPrefix + tag.text, nil) }

    /// What stands before a tag in the name of its item.
    static let tagPrefix = "keypair."

    func path(default name: String) throws(Failure) -> FieldPath {
        do throws(VaultError) { return FieldPath(try ItemName(item), try FieldName(field ?? name)) } catch {
            throw Failure(error, vault: vault)
        }
    }
}

/// The value of an option that takes a key: a source of secrets, or a reference into a vault. Like a source it takes
/// anything, so that ArgumentParser never prints a secret typed in the wrong place.
struct KeySourceArgument: ExpressibleByArgument, Sendable {
    let source: SecretSourceArgument
    let reference: VaultReference?

    init(argument: String) {
        reference = VaultReference(argument)
        // What is no reference must be a source; an `om://` that names no item is neither.
        source = reference == nil ? SecretSourceArgument(argument: argument) : SecretSourceArgument(.tty)
    }
}

/// How a key file is opened.
struct KeyFileOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the password of an encrypted key file comes from.", valueName: "source"))
    var keyPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("PKCS#12: the key of this name, or number as inspect counts.", valueName: "name|number"))
    var identity: String?
}

/// Which key a verb computes with.
struct KeyChoiceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the key comes from, or om://VAULT/ITEM.", valueName: "source"))
    var keyFrom: KeySourceArgument?

    @Option(help: ArgumentHelp("The tag of a key pair in the vault.", valueName: "tag"))
    var tag: String?

    func validate() throws {
        if keyFrom != nil, tag != nil { throw ValidationError("--key-from and --tag are two keys; give one") }
    }
}

/// A verb that opens a key file, or the vault that a key stands in.
///
/// It declares its groups side by side. In a debug build ArgumentParser makes a group four times for every level that it
/// stands below the verb, so five levels cost a second; a test holds that no group holds another.
protocol KeyOpeningVerb: Verb {
    var keyFile: KeyFileOptions { get }
    var work: WorkOptions { get }
    var unlock: UnlockOptions { get }
}

extension KeyOpeningVerb {
    var opening: KeyOpening { KeyOpening(keyFile, work, unlock) }
}

/// A verb that computes with a key.
protocol KeyVerb: KeyOpeningVerb {
    var choice: KeyChoiceOptions { get }
}

extension KeyVerb {
    var key: ChosenKey { ChosenKey(choice, opening) }
}

/// How a key file, or the vault it stands in, is opened.
struct KeyOpening {
    let keyPasswordFrom: SecretSourceArgument?
    let work: WorkOptions
    let unlock: UnlockOptions
    let file: KeyFileOpening

    init(_ keyFile: KeyFileOptions, _ work: WorkOptions, _ unlock: UnlockOptions) {
        (keyPasswordFrom, self.work, self.unlock) = (keyFile.keyPasswordFrom, work, unlock)
        file = KeyFileOpening(
            passwordOption: "--key-password-from", limit: work.limit, identity: keyFile.identity)
    }

    var sources: [(key: String, value: SecretSourceArgument?)] {
        [("--key-password-from", keyPasswordFrom)] + unlock.sources
    }
}

/// The key that was chosen, not yet read.
struct ChosenKey {
    let keyFrom: KeySourceArgument?
    let tag: String?
    let opening: KeyOpening

    init(_ choice: KeyChoiceOptions, _ opening: KeyOpening) {
        (keyFrom, tag, self.opening) = (choice.keyFrom, choice.tag, opening)
    }

    var sources: [(key: String, value: SecretSourceArgument?)] {
        [("--key-from", keyFrom?.source)] + opening.sources
    }

    var isGiven: Bool { keyFrom != nil || tag != nil }

    /// Whether the key is in a vault, so that --password-from is the vault's.
    var isInVault: Bool { tag != nil || keyFrom?.reference != nil }

    func origin() throws -> KeyOrigin {
        if let tag { return .vault(VaultReference(tag: try KeyPairTag(tag))) }
        if let reference = keyFrom?.reference { return .vault(reference) }
        return .option("--key-from")
    }
}

/// A key's place, found but not read.
enum KeyOrigin {
    /// What an option of ``SecretSources`` gives.
    case option(String)
    /// A path, or `-`.
    case file(String)
    case vault(VaultReference)

    /// `--in`, or the tag beside it.
    init(file: String?, tag: String?) throws {
        switch (file, tag) {
        case (let file?, nil): self = VaultReference(file).map { .vault($0) } ?? .file(file)
        case (nil, let tag?): self = .vault(VaultReference(tag: try KeyPairTag(tag)))
        case (nil, nil): throw Failure(.usage, "no key was named", hint: "--in FILE, or --tag T for one in the vault")
        default: throw Failure(.usage, "--in and --tag are two keys; give one")
        }
    }

    /// - Parameter half: `private` or `public`, the field of an item that is meant when none is named.
    func bytes(
        _ half: String, _ secrets: borrowing SecretSources, _ unlock: UnlockOptions, _ door: Door
    ) throws -> SecretBytes {
        switch self {
        case .option(let name):
            return try secrets.read(name, prompt: "Key", keepNewline: true, maximum: KeyFile.maximumCount)
        case .file(let path):
            return try InputFile(path).readWhole(maximum: KeyFile.maximumCount, hint: "a key is a short file")
        case .vault(let reference):
            let path = try reference.path(default: half)
            return try VaultAccess(door, vault: reference.vault)
                .read(.secret(path, revision: nil), secrets, unlock).secret()
        }
    }
}

/// How a key file is taken apart: with which password, and how much work it may ask for.
struct KeyFileOpening {
    let passwordOption: String
    let limit: WorkLimit
    /// Which key of a PKCS#12 file; nil for its one.
    var identity: String?

    /// The private key in the bytes of a file, PKCS#12 included; the password is only asked for when it is needed.
    func privateKey(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PrivateKey {
        if PKCS12File.isPKCS12(bytes) { return try identity(in: contents(bytes, secrets)).key.duplicate() }
        let file = try keyFile(bytes)
        guard file.isEncrypted, file.encryptionName != nil else { return try file.privateKey() }
        return try file.privateKey(password: password(secrets), limit: limit)
    }

    /// The public key in the bytes of a file, or the public half of the private one there.
    func publicKey(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PublicKey {
        if PKCS12File.isPKCS12(bytes) { return try identity(in: contents(bytes, secrets)).key.publicKey() }
        let file = try keyFile(bytes)
        return file.isPrivate ? try privateKey(bytes, secrets).publicKey() : try file.publicKey()
    }

    /// The key of a PKCS#12 file that is meant.
    func identity(in contents: PKCS12Contents) throws -> PKCS12Identity {
        let found = contents.identities
        guard !found.isEmpty else { throw CryptoError.noPrivateKey }
        guard let identity else {
            if found.count == 1 { return found[0] }
            throw Failure(.ambiguous, "the file holds \(found.count) keys", hint: Self.identityHint)
        }
        let named = found.filter { $0.name == identity }
        if named.count == 1 { return named[0] }
        if named.isEmpty, let number = Int(identity), (1...found.count).contains(number) { return found[number - 1] }
        throw named.isEmpty
            ? Failure(.notFound, "no key in the file is called \"\(identity)\"", hint: Self.identityHint)
            : Failure(.ambiguous, "\(named.count) keys are called \"\(identity)\"", hint: Self.identityHint)
    }

    private static let identityHint = "--identity NAME or NUMBER; omvault crypto inspect lists them"

    private func keyFile(_ bytes: borrowing SecretBytes) throws -> KeyFile {
        guard identity == nil else { throw Failure(.usage, "--identity is for PKCS#12, and this is none") }
        return try KeyFile(bytes)
    }

    func contents(_ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources) throws -> PKCS12Contents {
        try PKCS12File(bytes).open(password: password(secrets), limit: limit)
    }

    private func password(_ secrets: borrowing SecretSources) throws -> SecretBytes {
        try secrets.read(passwordOption, prompt: "Password of the key file")
    }
}
