internal import ArgumentParser
internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault crypto keygen`: makes a key or a key pair, in a file or in the vault.
struct CryptoKeygen: Verb {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a key or a key pair.",
        discussion: """
            Types: \(types).

            "age" is a key of X25519 in the form of age-keygen. Its file is encrypted too, as an age file for a password.

            A private key goes into a file as encrypted PKCS#8; --tag and om://VAULT/ITEM put the pair into the vault,
            which seals it itself. --tag T names the item "keypair.T", with the fields private and public.

              omvault crypto keygen --type ed25519 --out id.pem --pub id.pub.pem
              omvault crypto keygen --type age --out key.age --pub key.pub
              omvault crypto keygen --type ec-p256 --tag signing
              omvault crypto keygen --type aes --bits 256 --encoding hex
            """)

    /// A key of X25519 whose file has age's form.
    static let age = "age"

    private static let types = (KeyKind.standard.map(\.name) + [age] + SymmetricKey.Kind.allCases.map(\.name))
        .joined(separator: ", ")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions

    @Option(help: ArgumentHelp("What to make.", valueName: "type"), completion: .algorithms("key-type"))
    var type: String

    @Option(
        help: ArgumentHelp(
            "The size. rsa: 2048 to 8192, by default 3072. aes: 128, 192 or 256, by default 256.", valueName: "bits"))
    var bits: Int?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("A file, or om://VAULT/ITEM.", valueName: "file"), completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Keep the pair in the vault under this tag.", valueName: "tag"))
    var tag: String?

    @Option(
        help: ArgumentHelp("Write the public key to this file too, as PEM; of age as age1….", valueName: "file"),
        completion: .file())
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
        if output != nil, tag != nil { throw ValidationError("give --out or --tag, not both") }
        if noPassword, encryptFrom != nil {
            throw ValidationError("--no-password and --encrypt-from contradict each other")
        }
    }

    func run(_ context: CommandContext) throws {
        if let kind = try? SymmetricKey.Kind(named: type) { return try makeSymmetric(kind, context) }
        let kind = try keyKind()
        if case .rsa(let bits) = kind, bits < 2048, !insecure {
            throw Failure(
                .unsafeAlgorithm, "an RSA key of \(bits) bits can be broken",
                hint: "leave out --bits for 3072, or add --insecure for interoperability")
        }
        if let reference = try KeyPairReference(tag: tag, output: output) {
            guard encryptFrom == nil, !noPassword else {
                throw Failure(usage: "the vault seals the key itself: --encrypt-from and --no-password are for files")
            }
            return try store(kind, reference, context)
        }
        try write(kind, context)
    }

    // MARK: Kinds

    private var isAge: Bool { type.lowercased() == Self.age }

    private func keyKind() throws -> KeyKind {
        let wanted = type.lowercased()
        let known = isAge ? .x25519 : KeyKind.standard.first { $0.name == wanted } ?? EllipticCurve(named: wanted).map { .ec($0) }
        guard let kind = known else {
            throw Failure(.usage, "there is no key type \"\(type)\"", hint: "one of: \(Self.types)")
                .with(sdkCode: CryptoError.wrongKeyType.sdkCode)
        }
        if case .rsa = kind, let bits { return .rsa(bits: bits) }
        guard bits == nil || bits == kind.bits else {
            throw Failure(.usage, "a key of type \(kind.name) has \(kind.bits) bits", hint: "leave out --bits")
        }
        return kind
    }

    private func makeKey(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
        if case .rsa(let bits) = kind, bits < 2048 { return try Insecure.generateRSA(bits: bits) }
        return try .generate(kind)
    }

    // MARK: Targets

    private func store(_ kind: KeyKind, _ reference: KeyPairReference, _ context: CommandContext) throws {
        var target = try PublicTarget(pub, replacing: force, isAge: isAge)
        let secrets = try SecretSources(context, unlock.sources)
        let placed = try reference.store(secrets: secrets, unlock: unlock, level: level, context: context) {
            try target.prepare()
            return try makeKey(kind)
        }
        try target.write(placed.key.publicKey())
        try report(
            placed.key, at: "\"\(placed.item)\" in vault \"\(placed.vault)\"",
            members: ["vault": placed.vault, "item": placed.item], context: context)
    }

    private func write(_ kind: KeyKind, _ context: CommandContext) throws {
        if let pub, OutputFile.areSame(pub, output ?? "-") {
            guard output != nil else {
                throw Failure(
                    .usage, "the private key and the public key would both go to standard output",
                    hint: "give --out FILE for the private key")
            }
            throw Failure(usage: "--out and --pub name the same file: the public key would replace the private key")
        }
        guard !noPassword || insecure else { throw Self.plainKeyGate }
        var target = try OutputFile(output, replacing: force)
        var pubTarget = try PublicTarget(pub, replacing: force, isAge: isAge)
        let secrets = try SecretSources(context, ["--encrypt-from": encryptFrom])
        let password =
            noPassword
            ? nil : try secrets.readNewPassword("--encrypt-from", prompt: "Password for the key file")
        try target.prepare()
        try pubTarget.prepare()
        let key = try makeKey(kind)
        let text: SecretBytes
        switch password {
        case .some(let password) where isAge: text = try key.encryptedAgeIdentity(password: password)
        case .none where isAge: text = try key.unencryptedAgeIdentity()
        case .some(let password): text = KeyText.pem(encryptedPKCS8: try key.encryptedPKCS8(password: password.bytes))
        case .none: text = KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        }
        let isStandardOutput = target.isStandardOutput
        try target.write(text)
        try target.finish()
        try pubTarget.write(key.publicKey())
        guard let output, !isStandardOutput else { return try notice(key, "standard output", context) }
        try report(key, at: output, members: ["file": output], context: context)
    }

    static let plainKeyGate = Failure(
        .unsafeAlgorithm, "anyone who finds the file could use an unencrypted private key",
        hint: "encrypt it with --encrypt-from, or keep it in the vault with --tag; or add --insecure")

    private func notice(_ key: borrowing PrivateKey, _ place: String, _ context: CommandContext) throws {
        guard !isAge else {
            return context.output.notice("made age key, recipient \(try AgeRecipient(key.publicKey()).text): \(place)")
        }
        let fingerprint = try Hex.encode(key.publicKey().fingerprint())
        context.output.notice("made \(key.kind.name), \(key.kind.bits) bits, SHA-256 \(fingerprint): \(place)")
    }

    /// Reports where the key is now. With --json it also prints a document, unless the key is on standard output.
    private func report(
        _ key: borrowing PrivateKey, at place: String, members: KeyValuePairs<String, String>, context: CommandContext
    ) throws {
        guard context.output.format == .json, pub != "-" else {
            return try notice(key, place, context)
        }
        var document = JSONDocument()
        document.field("type", .text(key.kind.name))
        document.field("bits", .number(key.kind.bits))
        document.field("sha256", .text(Hex.encode(try key.publicKey().fingerprint())))
        if isAge { document.field("recipient", .text(try AgeRecipient(key.publicKey()).text)) }
        for (name, value) in members { document.field(name, .text(value)) }
        if let pub { document.field("public_file", .text(pub)) }
        try context.output.document(document)
    }

    // MARK: Symmetric

    private func makeSymmetric(_ kind: SymmetricKey.Kind, _ context: CommandContext) throws {
        guard !kind.isInsecure || insecure else {
            throw Failure(
                .unsafeAlgorithm, "\(kind.name) is a legacy algorithm",
                hint: "--type aes, or add --insecure for interoperability")
        }
        guard pub == nil, encryptFrom == nil, tag == nil else {
            throw Failure(.usage, "--pub, --encrypt-from and --tag are for key pairs", hint: "--out om://VAULT/ITEM")
        }
        guard (bits ?? 0) % 8 == 0 else { throw Failure(usage: "--bits must be a multiple of 8") }
        let key = try SymmetricKey.generate(kind, count: bits.map { $0 / 8 })
        guard let reference = output.flatMap(ValueReference.key) else {
            let encoded = encoding.encode(key)
            var target = try OutputFile(output, replacing: force)
            guard let output, !target.isStandardOutput else { return try context.output.writeSecret(encoded) }
            try target.write(encoded)
            try target.finish()
            return try context.output.done(
                "made \(kind.name), \(key.count * 8) bits: \(output)",
                ["type": .text(kind.name), "bits": .number(key.count * 8), "file": .text(output)])
        }
        let path = try reference.path(default: "key")
        let access = try VaultAccess(context, vault: reference.vault)
        let secrets = try SecretSources(context, unlock.sources)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        let bits = key.count * 8
        var values = FieldValues()
        try values.put(key, at: path.field)
        _ = try access.perform(.add(path.item, level: chosen, ItemChange(set: values)))
        try context.output.done(
            "made \(kind.name): \"\(reference.item.text.shown)\" in vault \"\(access.location.name)\"",
            [
                "type": .text(kind.name), "bits": .number(bits), "vault": .text(access.location.name),
                "item": .text(reference.item.text), "field": .text(path.field.text),
            ])
    }
}

/// The file of `--pub`. It is checked before the key is made.
private struct PublicTarget: ~Copyable {
    private var file: OutputFile?
    private let isAge: Bool

    init(_ path: String?, replacing: Bool, isAge: Bool) throws(Failure) {
        self.isAge = isAge
        file = try path.map { (path) throws(Failure) in try OutputFile(path, replacing: replacing, isPublic: true) }
    }

    mutating func prepare() throws(Failure) { try file?.prepare() }

    mutating func write(_ key: consuming PublicKey) throws {
        guard var target = file.take() else { return }
        let text = isAge ? try AgeRecipient(key).text + "\n" : try KeyText.pem(spki: key.spki())
        try target.write(SecretBytes(copying: Array(text.utf8)))
        try target.finish()
    }
}
