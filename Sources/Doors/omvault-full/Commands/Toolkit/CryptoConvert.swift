internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto convert`.
struct CryptoConvert: Verb {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a key in another form.",
        discussion: """
            A private key is encrypted to a password in the forms pem, der (PKCS#8), p12, openssh and age. The forms jwk, raw, pkcs1, sec1 and
            their -pem are not encrypted: they need --insecure, and so does --no-password. For p12, --cert names the files of the
            certificates. From p12 to p12 the key's certificates and name go along. --to cert takes certificates out, as PEM.

            --to-tag T and --out om://VAULT/ITEM put a private key into the vault.

              omvault crypto convert --in id.pem --to p12 --cert chain.pem -o id.p12
              omvault crypto convert --in id.p12 --to cert -o chain.pem
              omvault crypto convert --in key.jwk -o key.pem
              omvault crypto convert --in id.pem --to openssh --name 'me at home' -o id_ed25519
              omvault crypto convert --in id.pem --to-tag signing
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var source: KeyInputOptions
    @OptionGroup var target: KeyOutputOptions
    @OptionGroup var level: LevelOptions

    @Option(help: ArgumentHelp("Keep the pair in the vault under this tag.", valueName: "tag"))
    var toTag: String?

    @Option(help: ArgumentHelp("Where the new file's password comes from.", valueName: "source"))
    var encryptFrom: SecretSourceArgument?

    @Flag(help: "Do not encrypt the private key; needs --insecure.")
    var noPassword = false

    @Option(
        help: ArgumentHelp(
            "p12: the file of the certificates, the key's own first; may be repeated.", valueName: "file"), completion: .file())
    var cert: [String] = []

    @Option(help: ArgumentHelp("p12: the friendly name. openssh: the comment; an old one is dropped.", valueName: "text"))
    var name: String?

    @Flag(help: "Allow an unencrypted private key.")
    var insecure = false

    func validate() throws {
        if noPassword, encryptFrom != nil {
            throw ValidationError("--no-password and --encrypt-from contradict each other")
        }
        if !cert.isEmpty, target.to != .p12 { throw ValidationError("--cert is for --to p12") }
        if name != nil, target.to != .p12, target.to != .openssh {
            throw ValidationError("--name is for --to p12 and --to openssh")
        }
        guard name == name?.shown else { throw ValidationError("--name must be printable text") }
        if toTag != nil, target.output != nil { throw ValidationError("give --out or --to-tag, not both") }
    }

    func run(_ context: CommandContext) throws {
        let reference = try KeyPairReference(tag: toTag, output: target.output)
        if reference == nil, level.level != nil || level.deviceOnly {
            throw Failure(usage: "--level and --device-only are for a key that goes into a vault")
        }
        let secrets = try source.sources(context, [("--encrypt-from", encryptFrom)])
        let bytes = try source.bytes("private", secrets, context)
        let isPKCS12 = PKCS12File.isPKCS12(bytes)
        if target.to == .cert {
            guard reference == nil else {
                throw Failure(usage: "a vault item holds a key pair, and --to cert gives a certificate")
            }
            let chain = try isPKCS12 ? certificates(bytes, secrets) : Certificate.all(in: bytes)
            return try target.write(text: chain.map { KeyText.pem(certificate: $0.der) }.joined(), context)
        }
        guard try isPKCS12 || KeyFile(bytes).isPrivate else {
            guard reference == nil else { throw Failure(usage: "a vault item holds a key pair, and this is only a public key") }
            return try target.write(source.opening.file.publicKey(bytes, secrets), comment: "", context)
        }
        try requireSafe(reference)
        guard isPKCS12 else {
            return try write(
                source.opening.file.privateKey(bytes, secrets), chain: [], friendlyName: "", reference: reference,
                secrets: secrets, context: context)
        }
        let contents = try source.opening.file.contents(bytes, secrets)
        let identity = try source.opening.file.identity(in: contents)
        let chain = contents.chain(of: identity)
        let left = contents.certificates.count - (target.to == .p12 && reference == nil ? chain.count : 0)
        if left > 0, cert.isEmpty {
            context.output.notice("\(left) of the file's certificates are not in the output; --to cert extracts them")
        }
        try write(
            identity.key.duplicate(), chain: chain, friendlyName: identity.name, reference: reference, secrets: secrets,
            context: context)
    }

    /// The certificates of a PKCS#12 file: those of the named or only key, otherwise all.
    private func certificates(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources
    ) throws -> [Certificate] {
        let contents = try source.opening.file.contents(bytes, secrets)
        guard source.keyFile.identity != nil else {
            let chain = contents.identities.count == 1 ? contents.chain(of: contents.identities[0]) : []
            let found = chain.isEmpty ? contents.certificates : chain
            guard !found.isEmpty else {
                throw Failure(.notFound, "the file holds no certificate", hint: "omvault crypto inspect shows what a file holds")
            }
            return found
        }
        let chain = try contents.chain(of: source.opening.file.identity(in: contents))
        guard !chain.isEmpty else {
            throw Failure(
                .notFound, "the key has no certificate in the file", hint: "omvault crypto inspect shows what a file holds")
        }
        return chain
    }

    // MARK: Private keys

    private var isPlain: Bool { noPassword || ![.pem, .der, .p12, .openssh, .age].contains(target.to) }

    private func requireSafe(_ reference: KeyPairReference?) throws {
        guard reference == nil else {
            guard encryptFrom == nil, !noPassword, target.to == .pem else {
                throw Failure(usage: "the vault keeps and seals the key itself: no --to, --encrypt-from or --no-password")
            }
            return
        }
        guard !isPlain || insecure else { throw CryptoKeygen.plainKeyGate }
        guard !isPlain || encryptFrom == nil else {
            throw Failure(.usage, "\(target.to.rawValue) has no encryption", hint: "--to pem, der, p12, openssh or age")
        }
    }

    private func write(
        _ opened: consuming PrivateKey, chain: [Certificate], friendlyName: String, reference: KeyPairReference?,
        secrets: borrowing SecretSources, context: CommandContext
    ) throws {
        let opened = opened
        if let reference {
            let placed = try reference.store(
                secrets: secrets, unlock: source.unlock, level: level, context: context
            ) { opened.duplicate() }
            return try context.output.done(
                "stored \(opened.kind.name), \(opened.kind.bits) bits: \"\(placed.item)\" in vault \"\(placed.vault)\"",
                [
                    "type": .text(opened.kind.name), "bits": .number(opened.kind.bits), "vault": .text(placed.vault),
                    "item": .text(placed.item),
                ])
        }
        try target.write(
            isPlain
                ? plain(opened)
                : encrypted(opened, chain: chain, friendlyName: friendlyName, secrets: secrets), context)
    }

    private func plain(_ key: borrowing PrivateKey) throws -> SecretBytes {
        switch target.to {
        case .pem: KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        case .der: try key.unencryptedPKCS8()
        case .jwk: try key.unencryptedJWK()
        case .raw: try key.rawBytes()
        case .pkcs1: try key.unencryptedPKCS1()
        case .pkcs1PEM: KeyText.pem(unencryptedPKCS1: try key.unencryptedPKCS1())
        case .sec1: try key.unencryptedSEC1()
        case .sec1PEM: KeyText.pem(unencryptedSEC1: try key.unencryptedSEC1())
        case .age: try key.unencryptedAgeIdentity()
        case .openssh: try key.unencryptedOpenSSH(comment: name ?? "")
        case .p12, .cert:
            throw Failure(.usage, "omvault writes \(target.to.rawValue) only with a password", hint: "leave out --no-password")
        }
    }

    private func encrypted(
        _ key: borrowing PrivateKey, chain: [Certificate], friendlyName: String, secrets: borrowing SecretSources
    ) throws -> SecretBytes {
        var certificates = cert.isEmpty ? chain : []
        for file in cert {
            let bytes = try InputFile(file).readWhole(
                maximum: KeyFile.maximumCount, hint: "certificates are short files")
            let found = try Failure.naming(file) { try Certificate.all(in: bytes) }
            if certificates.isEmpty, try found.first?.spki != key.publicKey().spki() {
                throw Failure(CryptoError.foreignCertificate).about(file)
            }
            certificates += found
        }
        let password = try secrets.readNewPassword("--encrypt-from", prompt: "Password for the new file")
        switch target.to {
        case .p12:
            return try PKCS12File.make(
                key, certificates: certificates, name: name ?? friendlyName, password: password.bytes)
        case .der: return try key.encryptedPKCS8(password: password.bytes)
        case .openssh: return try key.encryptedOpenSSH(password: password.bytes, comment: name ?? "")
        case .age: return try key.encryptedAgeIdentity(password: password)
        default: return KeyText.pem(encryptedPKCS8: try key.encryptedPKCS8(password: password.bytes))
        }
    }
}
