internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets

/// The forms that keys are written in.
enum KeyForm: String, CaseIterable, ExpressibleByArgument {
    case pem, der, jwk, openssh, raw, pkcs1
    case pkcs1PEM = "pkcs1-pem"
    case sec1
    case sec1PEM = "sec1-pem"
    case p12
    /// The certificates beside a key.
    case cert
}

/// The key that a verb looks at.
struct KeyPlaceOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("in")],
        help: ArgumentHelp("The key's file, - or om://VAULT/ITEM.", valueName: "file"))
    var input: String?

    @Option(help: ArgumentHelp("The tag of a key pair in the vault.", valueName: "tag"))
    var tag: String?

    @OptionGroup var keyFile: KeyFileOptions
    @OptionGroup var work: WorkOptions
    @OptionGroup var unlock: UnlockOptions

    var opening: KeyOpening { KeyOpening(keyFile: keyFile, work: work, unlock: unlock) }

    func sources(
        _ door: Door, _ more: [(key: String, value: SecretSourceArgument?)] = []
    ) throws(Failure) -> SecretSources {
        let isStandardInput = input.map { InputFile.isStandardInput($0) } ?? false
        return try SecretSources(
            door, opening.sources + more, standardInputIsDataOf: isStandardInput ? "--in" : nil)
    }

    /// - Parameter half: `private` or `public`: the field where the reference names none.
    func bytes(_ half: String, _ secrets: borrowing SecretSources, _ door: Door) throws -> SecretBytes {
        try KeyOrigin(file: input, tag: tag).bytes(half, secrets: secrets, unlock: unlock, door: door)
    }
}

/// Where the answer goes.
struct KeyOutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The form to write.", valueName: "form"))
    var to = KeyForm.pem

    @Option(name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func write(_ bytes: borrowing SecretBytes, isPublic: Bool = false, _ door: Door) throws {
        var target = try OutputFile(output, replacing: force, isPublic: isPublic)
        if target.isStandardOutput { return try door.output.writeSecret(bytes) }
        try target.write(bytes)
        try target.finish()
    }

    func write(_ key: borrowing PublicKey, comment: String, _ door: Door) throws {
        switch to {
        case .pem: try write(text: KeyText.pem(spki: key.spki()), door)
        case .der: try write(SecretBytes(copying: key.spki()), isPublic: true, door)
        case .jwk: try write(text: key.jwk() + "\n", door)
        case .openssh: try write(text: key.openSSHLine(comment: comment) + "\n", door)
        case .raw: try write(SecretBytes(copying: key.rawBytes), isPublic: true, door)
        case .pkcs1: try write(SecretBytes(copying: key.pkcs1()), isPublic: true, door)
        case .pkcs1PEM: try write(text: KeyText.pem(pkcs1: key.pkcs1()), door)
        case .sec1, .sec1PEM, .p12: throw Failure(.usage, "\(to.rawValue) is a form of private keys")
        case .cert: throw Failure(.usage, "certificates are what crypto convert takes out, of PKCS#12 or PEM")
        }
    }

    func write(text: String, _ door: Door) throws {
        try write(SecretBytes(copying: Array(text.utf8)), isPublic: true, door)
    }
}

/// `omvault crypto pubkey`.
struct CryptoPubkey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pubkey",
        abstract: "Extract the public key.",
        discussion: """
            Forms: pem and der (SubjectPublicKeyInfo), jwk, openssh, raw, pkcs1, pkcs1-pem.

              omvault crypto pubkey --in id.pem --to openssh
              omvault crypto pubkey --tag signing -o signing.pub.pem
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var source: KeyPlaceOptions
    @OptionGroup var target: KeyOutputOptions

    @Option(help: ArgumentHelp("openssh: the comment at the end of the line.", valueName: "text"))
    var comment = ""

    func run(_ door: Door) throws {
        guard comment == comment.shown else { throw Failure(.usage, "--comment is printable text") }
        let secrets = try source.sources(door)
        let bytes = try source.bytes("public", secrets, door)
        try target.write(source.opening.file.publicKey(bytes, secrets), comment: comment, door)
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
    @OptionGroup var source: KeyPlaceOptions

    func run(_ door: Door) throws {
        let secrets = try source.sources(door)
        let bytes = try source.bytes("public", secrets, door)
        if PKCS12File.isPKCS12(bytes) { return try inspectPKCS12(bytes, secrets, door) }
        let file = try KeyFile(bytes)
        var facts: [(String, JSONValue)] = [
            ("format", .text(file.format.rawValue)), ("pem", .flag(file.isPEM)),
            ("holds", .text(file.isPrivate ? "private key" : "public key")), ("encrypted", .flag(file.isEncrypted)),
        ]
        if let name = file.encryptionName { facts.append(("encryption", .text(name))) }
        if let work = file.encryptionWork { facts.append(("rounds", .number(work))) }
        if !file.isEncrypted || source.keyFile.keyPasswordFrom != nil {
            facts += try Self.facts(source.opening.file.publicKey(bytes, secrets))
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
        guard source.keyFile.keyPasswordFrom != nil else { return try print(facts, door) }
        let contents = try source.opening.file.contents(bytes, secrets)
        facts.append(("keys", .number(contents.identities.count)))
        facts.append(("certificates", .number(contents.certificates.count)))
        if contents.otherSecrets > 0 { facts.append(("other_secrets", .number(contents.otherSecrets))) }
        guard door.output.format == .json else {
            try print(facts, door)
            for (index, identity) in contents.identities.enumerated() { try print(Self.facts(identity, index), door) }
            return
        }
        var document = Self.document(facts)
        var lists: [[(String, JSONValue)]] = []
        for (index, identity) in contents.identities.enumerated() { lists.append(try Self.facts(identity, index)) }
        document.objects("identities", lists) { facts, entry in
            for (name, value) in facts { entry.field(name, value) }
        }
        try door.output.document(document)
    }

    private static func facts(_ identity: PKCS12Identity, _ index: Int) throws -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = [("identity", .number(index + 1)), ("name", .text(identity.name))]
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
