internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// The forms that keys are written in.
enum KeyForm: String, CaseIterable, ExpressibleByArgument {
    case pem, der, jwk, openssh, raw, pkcs1, sec1, p12
}

/// The key that a verb looks at, and where its answer goes.
struct KeyFileOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("in")],
        help: ArgumentHelp("The key's file, - or om://VAULT/ITEM.", valueName: "file"))
    var input: String?

    @Option(help: ArgumentHelp("The tag of a key pair in the vault.", valueName: "tag"))
    var tag: String?

    @OptionGroup var opening: KeyUnlockOptions

    func sources(
        _ door: Door, _ more: [(key: String, value: SecretSourceArgument?)] = []
    ) throws(Failure) -> SecretSources {
        try SecretSources(door, opening.sources + more, standardInputIsDataOf: input == "-" ? "--in" : nil)
    }

    func bytes(_ half: String, _ secrets: borrowing SecretSources, _ door: Door) throws -> SecretBytes {
        try KeyOrigin(file: input, tag: tag).bytes(half, secrets, opening, door)
    }
}

struct KeyOutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The form to write.", valueName: "form"))
    var to = KeyForm.pem

    @Option(name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func write(_ bytes: borrowing SecretBytes, _ door: Door) throws {
        var target = try OutputFile(output, replacing: force)
        if target.isStandardOutput { return try door.output.writeSecret(bytes) }
        try target.write(bytes)
        try target.finish()
    }

    func write(_ key: borrowing PublicKey, comment: String, _ door: Door) throws {
        switch to {
        case .pem: try write(text: KeyText.pem(spki: key.spki()), door)
        case .der: try write(SecretBytes(copying: key.spki()), door)
        case .jwk: try write(text: key.jwk() + "\n", door)
        case .openssh: try write(text: key.openSSHLine(comment: comment) + "\n", door)
        case .raw: try write(SecretBytes(copying: key.rawBytes), door)
        case .pkcs1: try write(SecretBytes(copying: key.pkcs1()), door)
        case .sec1, .p12: throw Failure(.usage, "\(to.rawValue) is a form of private keys")
        }
    }

    private func write(text: String, _ door: Door) throws { try write(SecretBytes(copying: Array(text.utf8)), door) }
}

/// `omvault crypto pubkey`.
struct CryptoPubkey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pubkey",
        abstract: "Extract the public key.",
        discussion: """
            Forms: pem and der (SubjectPublicKeyInfo), jwk, openssh, raw, pkcs1.

              omvault crypto pubkey --in id.pem --to openssh
              omvault crypto pubkey --tag signing -o signing.pub.pem
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: KeyFileOptions
    @OptionGroup var target: KeyOutputOptions

    @Option(help: ArgumentHelp("openssh: the comment at the end of the line.", valueName: "text"))
    var comment = ""

    func run(_ door: Door) throws {
        guard comment == comment.shown else { throw Failure(.usage, "--comment is printable text") }
        let secrets = try key.sources(door)
        let bytes = try key.bytes("public", secrets, door)
        try target.write(key.opening.file.publicKey(bytes, secrets), comment: comment, door)
    }
}

/// `omvault crypto convert`.
struct CryptoConvert: Verb {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a key in another form.",
        discussion: """
            A private key stays private: pem, der (PKCS#8) and p12 are encrypted to a password; jwk, raw, pkcs1 and sec1,
            and --no-password, are not, and need --insecure. Of p12 --cert names the certificates, PEM or DER.

              omvault crypto convert --in id.pem --to p12 --cert chain.pem -o id.p12
              omvault crypto convert --in key.jwk -o key.pem
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: KeyFileOptions
    @OptionGroup var target: KeyOutputOptions

    @Option(help: ArgumentHelp("Where the new file's password comes from.", valueName: "source"))
    var encryptFrom: SecretSourceArgument?

    @Flag(help: "Do not encrypt the private key; needs --insecure.")
    var noPassword = false

    @Option(
        help: ArgumentHelp(
            "p12: the file of the certificates, the key's own first; may be repeated.", valueName: "file"))
    var cert: [String] = []

    @Option(help: ArgumentHelp("p12: the friendly name.", valueName: "text"))
    var name = ""

    @Flag(help: "Allow an unencrypted private key.")
    var insecure = false

    func validate() throws {
        if noPassword, encryptFrom != nil {
            throw ValidationError("--no-password and --encrypt-from contradict each other")
        }
        if !cert.isEmpty || !name.isEmpty, target.to != .p12 {
            throw ValidationError("--cert and --name are for --to p12")
        }
    }

    func run(_ door: Door) throws {
        let secrets = try key.sources(door, [("--encrypt-from", encryptFrom)])
        let bytes = try key.bytes("private", secrets, door)
        let isPrivate = try PKCS12File.isPKCS12(bytes) || KeyFile(bytes).isPrivate
        guard isPrivate else { return try target.write(key.opening.file.publicKey(bytes, secrets), comment: "", door) }
        let isPlain = noPassword || ![.pem, .der, .p12].contains(target.to)
        guard target.to != .openssh else {
            throw Failure(
                .unsupported, "private keys are not written for OpenSSH",
                hint: "ssh-keygen reads PEM; crypto pubkey --to openssh writes the public line")
        }
        guard !isPlain || insecure else { throw CryptoKeygen.plainKeyGate }
        guard !isPlain || encryptFrom == nil else {
            throw Failure(.usage, "\(target.to.rawValue) has no encryption", hint: "--to pem, der or p12")
        }
        let opened = try key.opening.file.privateKey(bytes, secrets)
        try target.write(isPlain ? plain(opened) : encrypted(opened, secrets), door)
    }

    private func plain(_ key: borrowing PrivateKey) throws -> SecretBytes {
        switch target.to {
        case .pem: KeyText.pem(unencryptedPKCS8: try key.unencryptedPKCS8())
        case .der: try key.unencryptedPKCS8()
        case .jwk: try key.unencryptedJWK()
        case .raw: try key.rawBytes()
        case .pkcs1: try key.unencryptedPKCS1()
        case .sec1: try key.unencryptedSEC1()
        case .p12, .openssh: throw Failure(.usage, "\(target.to.rawValue) is not written without a password")
        }
    }

    private func encrypted(_ key: borrowing PrivateKey, _ secrets: borrowing SecretSources) throws -> SecretBytes {
        var certificates: [Certificate] = []
        for file in cert {
            let bytes = try InputFile(file).readWhole(
                maximum: KeyFile.maximumCount, hint: "certificates are short files")
            certificates += try Certificate.all(in: bytes)
        }
        let password = try secrets.readPassword("--encrypt-from", prompt: "Password for the new file", isNew: true)
        switch target.to {
        case .p12:
            return try PKCS12File.make(key, certificates: certificates, name: name, password: password.bytes)
        case .der: return try key.encryptedPKCS8(password: password.bytes)
        default: return KeyText.pem(encryptedPKCS8: try key.encryptedPKCS8(password: password.bytes))
        }
    }
}

/// `omvault crypto inspect`: what a file is, without its secret.
struct CryptoInspect: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Say what a key file is, without showing its secret.",
        discussion: """
            An encrypted file is told apart without its password; with --key-password-from its key is too. Fingerprints
            are SHA-256 of the SubjectPublicKeyInfo, and OpenSSH's own.

              omvault crypto inspect --in id.pem
              omvault crypto inspect --in id.p12 --key-password-from tty --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: KeyFileOptions

    func run(_ door: Door) throws {
        let secrets = try key.sources(door)
        let bytes = try key.bytes("public", secrets, door)
        if PKCS12File.isPKCS12(bytes) { return try inspectPKCS12(bytes, secrets, door) }
        let file = try KeyFile(bytes)
        var facts: [(String, JSONValue)] = [
            ("format", .text(file.format.rawValue)), ("pem", .flag(file.isPEM)),
            ("holds", .text(file.isPrivate ? "private key" : "public key")), ("encrypted", .flag(file.isEncrypted)),
        ]
        if let name = file.encryptionName { facts.append(("encryption", .text(name))) }
        if let work = file.encryptionWork { facts.append(("rounds", .number(work))) }
        if !file.isEncrypted || key.opening.keyPasswordFrom != nil {
            facts += try Self.facts(key.opening.file.publicKey(bytes, secrets))
        }
        try print(facts, door)
    }

    private func inspectPKCS12(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources, _ door: Door
    ) throws {
        _ = try PKCS12File(bytes)
        var facts: [(String, JSONValue)] = [
            ("format", .text(KeyFormat.pkcs12.rawValue)), ("encrypted", .flag(true)),
        ]
        guard key.opening.keyPasswordFrom != nil else { return try print(facts, door) }
        let contents = try key.opening.file.contents(bytes, secrets)
        facts.append(("keys", .number(contents.identities.count)))
        facts.append(("certificates", .number(contents.certificates.count)))
        guard door.output.format == .json else {
            try print(facts, door)
            for identity in contents.identities { try print(Self.facts(identity), door) }
            return
        }
        var document = Self.document(facts)
        var lists: [[(String, JSONValue)]] = []
        for identity in contents.identities { lists.append(try Self.facts(identity)) }
        document.objects("identities", lists) { facts, entry in
            for (name, value) in facts { entry.field(name, value) }
        }
        try door.output.document(document)
    }

    private static func facts(_ identity: PKCS12Identity) throws -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = [("name", .text(identity.name))]
        facts += try Self.facts(identity.key.publicKey())
        if let certificate = identity.certificate {
            facts.append(("subject", .text(certificate.subject ?? "")))
            facts.append(("certificate_sha256", .text(Hex.encode(try certificate.fingerprint()))))
        }
        return facts
    }

    private static func facts(_ key: borrowing PublicKey) throws -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = [
            ("type", .text(key.kind.name)), ("bits", .number(key.kind.bits)),
            ("sha256", .text(Hex.encode(try key.fingerprint()))),
        ]
        if let name = try? key.openSSHFingerprint() { facts.append(("openssh", .text(name))) }
        return facts
    }

    private static func document(_ facts: [(String, JSONValue)]) -> JSONDocument {
        var document = JSONDocument()
        for (name, value) in facts { document.field(name, value) }
        return document
    }

    private func print(_ facts: [(String, JSONValue)], _ door: Door) throws {
        guard door.output.format != .json else { return try door.output.document(Self.document(facts)) }
        let rows = facts.map { name, value in
            switch value {
            case .text(let text): [name, text]
            case .number(let number): [name, "\(number)"]
            case .flag(let flag): [name, flag ? "yes" : "no"]
            case .list, .null: [name, ""]
            }
        }
        try door.output.rows(rows, header: ["FACT", "VALUE"])
    }
}
