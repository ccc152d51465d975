internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMVault

/// `omvault crypto keygen`: a key or a key pair, into a file or into the vault.
struct CryptoKeygen: Verb {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a key or a key pair.",
        discussion: """
            Types: rsa, ec-p256, ec-p384, ec-p521, ed25519, x25519; aes, 3des, des, hmac.

            A private key goes into a file as encrypted PKCS#8; --tag and om://VAULT/ITEM put the pair into the vault,
            which seals it itself. --tag T names the item "keypair.T", with the fields private and public.

              omvault crypto keygen --type ed25519 --out id.pem --pub id.pub.pem
              omvault crypto keygen --type ec-p256 --tag signing
              omvault crypto keygen --type aes --bits 256 --encoding hex
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions

    @Option(help: ArgumentHelp("What to make.", valueName: "type"))
    var type: String

    @Option(
        help: ArgumentHelp("The size: of rsa 2048 to 8192 (3072), of aes 128, 192 or 256 (256).", valueName: "bits"))
    var bits: Int?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("A file, or om://VAULT/ITEM.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Keep the pair in the vault under this tag.", valueName: "tag"))
    var tag: String?

    @Option(help: ArgumentHelp("Write the public key to this file too, as PEM.", valueName: "file"))
    var pub: String?

    @Option(help: ArgumentHelp("Where the password that encrypts the file comes from.", valueName: "source"))
    var encryptFrom: SecretSourceArgument?

    @Flag(help: "Do not encrypt the private key's file; needs --insecure.")
    var noPassword = false

    @Option(help: ArgumentHelp("How a symmetric key is written: raw, hex or base64.", valueName: "encoding"))
    var encoding = ByteEncoding.raw

    @Flag(help: "Replace files that are there.")
    var force = false

    @Flag(help: "Allow what is only there for old programs.")
    var insecure = false

    func validate() throws {
        if output != nil, tag != nil { throw ValidationError("--out and --tag are two places; give one") }
        if noPassword, encryptFrom != nil {
            throw ValidationError("--no-password and --encrypt-from contradict each other")
        }
        if let output, output.hasPrefix("om://"), VaultReference(output) == nil {
            throw ValidationError("a place in a vault is om://VAULT/ITEM")
        }
    }

    func run(_ door: Door) throws {
        if let kind = try? SymmetricKey.Kind(named: type) { return try makeSymmetric(kind, door) }
        let kind = try keyKind()
        if case .rsa(let bits) = kind, bits < 2048, !insecure {
            throw Failure(
                .unsafeAlgorithm, "an RSA key of \(bits) bits can be broken",
                hint: "leave out --bits for 3072, or add --insecure for interoperability")
        }
        if let reference = try reference() {
            guard encryptFrom == nil, !noPassword else {
                throw Failure(.usage, "the vault seals the key itself: --encrypt-from and --no-password are for files")
            }
            return try store(kind, reference, door)
        }
        try write(kind, door)
    }

    // MARK: Kinds

    private func keyKind() throws -> KeyKind {
        let kind: KeyKind
        switch type.lowercased() {
        case "rsa": return .rsa(bits: bits ?? 3072)
        case "ec-p256", "p256": kind = .ec(.p256)
        case "ec-p384", "p384": kind = .ec(.p384)
        case "ec-p521", "p521": kind = .ec(.p521)
        case "ed25519": kind = .ed25519
        case "x25519": kind = .x25519
        default:
            throw Failure(
                .usage, "there is no key type \"\(type)\"",
                hint: "one of: rsa, ec-p256, ec-p384, ec-p521, ed25519, x25519, aes, 3des, des, hmac")
        }
        guard bits == nil || bits == kind.bits else {
            throw Failure(.usage, "a key of type \(kind.name) has \(kind.bits) bits", hint: "leave out --bits")
        }
        return kind
    }

    private func makeKey(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
        if case .rsa(let bits) = kind, bits < 2048 { return try .generateInsecureRSA(bits: bits) }
        return try .generate(kind)
    }

    // MARK: Places

    private func reference() throws -> VaultReference? {
        if let tag { return VaultReference(tag: try KeyPairTag(tag)) }
        return output.flatMap { VaultReference($0) }
    }

    private func store(_ kind: KeyKind, _ reference: VaultReference, _ door: Door) throws {
        guard reference.field == nil else {
            throw Failure(.usage, "a pair fills an item of its own", hint: "om://VAULT/ITEM, without a field")
        }
        var target = try PublicTarget(pub, replacing: force)
        let access = try VaultAccess(door, vault: reference.vault)
        let secrets = try SecretSources(door, unlock.sources)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access, level: chosen, item: reference.item)
        let key = try makeKey(kind)
        do { try StoredKeyPair.add(key, tag: tag ?? reference.item, to: &pairs) } catch CryptoError.keyPairExists {
            throw Failure(
                .exists, "\"\(reference.item)\" is in vault \"\(access.place.name)\" already",
                hint: tag.map { "omvault crypto keyrm --tag \($0)" } ?? "omvault rm \(reference.item)")
        }
        try target.write(key.publicKey())
        try report(key, "\"\(reference.item)\" in vault \"\(access.place.name)\"", door)
    }

    private func write(_ kind: KeyKind, _ door: Door) throws {
        guard !noPassword || insecure else { throw Self.plainKeyGate }
        var target = try OutputFile(output, replacing: force)
        var pubTarget = try PublicTarget(pub, replacing: force)
        let secrets = try SecretSources(door, ["--encrypt-from": encryptFrom])
        let password =
            noPassword
            ? nil : try secrets.readPassword("--encrypt-from", prompt: "Password for the key file", isNew: true)
        let key = try makeKey(kind)
        let text: SecretBytes
        switch password {
        case .some(let password): text = KeyText.pem(encryptedPKCS8: try key.encryptedPKCS8(password: password.bytes))
        case .none: text = KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        }
        try target.write(text)
        try target.finish()
        try pubTarget.write(key.publicKey())
        try report(key, output ?? "standard output", door)
    }

    static let plainKeyGate = Failure(
        .unsafeAlgorithm, "an unencrypted private key is whoever's finds the file",
        hint: "--encrypt-from names a password, --tag keeps it in the vault; or add --insecure")

    private func report(_ key: borrowing PrivateKey, _ place: String, _ door: Door) throws {
        let fingerprint = try Hex.encode(key.publicKey().fingerprint())
        door.output.notice("made \(key.kind.name), \(key.kind.bits) bits, SHA-256 \(fingerprint): \(place)")
    }

    // MARK: Symmetric

    private func makeSymmetric(_ kind: SymmetricKey.Kind, _ door: Door) throws {
        guard !kind.isInsecure || insecure else {
            throw Failure(
                .unsafeAlgorithm, "\(kind.name) is a legacy algorithm",
                hint: "--type aes, or add --insecure for interoperability")
        }
        guard pub == nil, encryptFrom == nil, tag == nil else {
            throw Failure(.usage, "--pub, --encrypt-from and --tag are for key pairs", hint: "--out om://VAULT/ITEM")
        }
        guard (bits ?? 0) % 8 == 0 else { throw Failure(.usage, "a key has whole bytes: --bits is a multiple of 8") }
        let key = try SymmetricKey.generate(kind, count: bits.map { $0 / 8 })
        guard let reference = output.flatMap({ VaultReference($0) }) else {
            let encoded = encoding.encode(key)
            guard output != nil else { return try door.output.writeSecret(encoded) }
            var target = try OutputFile(output, replacing: force)
            try target.write(encoded)
            return try target.finish()
        }
        let path = try reference.path(default: "key")
        let access = try VaultAccess(door, vault: reference.vault)
        let secrets = try SecretSources(door, unlock.sources)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        var values = FieldValues()
        try values.put(key, at: path.field)
        _ = try access.perform(.add(path.item, level: chosen, values))
        door.output.notice("made \(kind.name): \"\(reference.item)\" in vault \"\(access.place.name)\"")
    }
}

/// The file of `--pub`, found free before anything is made.
private struct PublicTarget: ~Copyable {
    private var file: OutputFile?

    init(_ path: String?, replacing: Bool) throws(Failure) {
        file = try path.map { (path) throws(Failure) in try OutputFile(path, replacing: replacing) }
    }

    mutating func write(_ key: consuming PublicKey) throws {
        guard var target = file.take() else { return }
        try target.write(SecretBytes(copying: Array(KeyText.pem(spki: key.spki()).utf8)))
        try target.finish()
    }
}

/// `omvault crypto keyrm`: a key pair out of the vault.
struct CryptoKeyRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "keyrm",
        abstract: "Remove a key pair from the vault for good.",
        discussion: """
            Both halves go in one change. It asks first; --yes answers.

              omvault crypto keyrm --tag signing
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The pair's tag.", valueName: "tag"))
    var tag: String

    func run(_ door: Door) throws {
        _ = try KeyPairTag(tag)
        let access = try VaultAccess(door)
        let secrets = try SecretSources(door, unlock.sources)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access)
        guard try pairs.contains(KeyPairTag(tag).privateName) else { throw CryptoError.keyPairNotFound }
        try door.confirm("Remove the key pair \"\(tag)\" for good?")
        try StoredKeyPair.delete(tag: tag, in: &pairs)
        door.output.notice("removed the key pair \"\(tag)\"")
    }
}
