internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto inspect`: describes a key file or a container, without its secret.
struct CryptoInspect: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a key, certificate or encrypted file.",
        discussion: """
            Tells the kind of an encrypted key file without its password. With --key-password-from it describes the key too.
            Fingerprints are SHA-256 of the SubjectPublicKeyInfo, and OpenSSH's own. For a file of 'omvault crypto encrypt', and an age
            file, it tells what opens it, the algorithm, the cost of its password and its sizes. Only 'omvault crypto decrypt' shows whether
            these are genuine.

              omvault crypto inspect id.pem
              omvault crypto inspect id.p12 --key-password-from tty --json
              omvault crypto inspect notes.omvf
              omvault crypto inspect server.crt
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var source: KeyInputOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let secrets = try source.sources(context)
        guard case .file(let path) = try KeyOrigin(file: source.data, tag: source.tag) else {
            return try inspectKey(source.bytes("public", secrets, context), secrets, context)
        }
        let input = try InputFile(path)
        let start = try input.readStart(max(SealedFile.startCount, AgeReader.startCount))
        let isAge = start.withBytes(AgeReader.isAge)
        // An encrypted identity is an age file too: the options for key files ask for the key in it.
        guard isAge && !source.isForKeyFile || start.withBytes(SealedFile.isContainer) else {
            let bytes = try input.readWhole(after: start, maximum: KeyFile.maximumCount, hint: "a key is a short file")
            return try inspectKey(bytes, secrets, context)
        }
        guard !source.isForKeyFile else {
            throw Failure(
                .usage, "--key-password-from, --identity and --max-work are for key files, and this is a container",
                hint: "leave them out")
        }
        try print(isAge ? AgeFacts(input, after: start).facts : ContainerFacts(input, after: start).facts, context)
    }

    private func inspectKey(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws {
        if PKCS12File.isPKCS12(bytes) { return try inspectPKCS12(bytes, secrets, context) }
        let file: KeyFile
        do throws(CryptoError) { file = try KeyFile(bytes) } catch {
            // Whatever it is, it is no key; certificates are described too.
            guard let chain = try? Certificate.all(in: bytes) else { throw error }
            return try inspect(chain, context)
        }
        var facts: [(String, JSONValue)] = [
            ("format", .text(file.format.rawValue)), ("pem", .flag(file.isPEM)),
            ("holds", .text(file.isPrivate ? "private key" : "public key")), ("encrypted", .flag(file.isEncrypted)),
        ]
        if let name = file.encryptionName { facts.append(("encryption", .text(name))) }
        if let work = file.encryptionWork { facts.append(("rounds", .number(work))) }
        if !file.isEncrypted || source.keyFile.keyPasswordFrom != nil {
            facts += try Self.facts(source.opening.file.publicKey(bytes, secrets))
        }
        try print(facts, context)
    }

    private func inspectPKCS12(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws {
        _ = try PKCS12File(bytes)
        var facts: [(String, JSONValue)] = [
            ("format", .text(KeyFormat.pkcs12.rawValue)), ("encrypted", .flag(true)),
        ]
        guard source.keyFile.keyPasswordFrom != nil else { return try print(facts, context) }
        let contents = try source.opening.file.contents(bytes, secrets)
        facts.append(("keys", .number(contents.identities.count)))
        facts.append(("certificates", .number(contents.certificates.count)))
        if contents.otherSecrets > 0 { facts.append(("other_secrets", .number(contents.otherSecrets))) }
        let identities = try contents.identities.enumerated().map { index, identity in try Self.facts(identity, index) }
        try print(facts, named: "identities", identities, context)
    }

    private func inspect(_ chain: [Certificate], _ context: CommandContext) throws {
        let certificates = try chain.map { try Self.facts($0.description()) }
        let facts: [(String, JSONValue)] = [("format", .text("certificate"))]
        try print(facts, named: "chain", certificates, context)
    }

    /// What a certificate says of itself. Nothing of it is checked.
    private static func facts(_ certificate: CertificateDescription) -> [(String, JSONValue)] {
        [
            ("subject", .text(certificate.subject)), ("issuer", .text(certificate.issuer)), ("serial", .text(certificate.serial)),
            ("not_before", .time(certificate.notBefore)), ("not_after", .time(certificate.notAfter)),
            ("names", .text(certificate.names.map(\.text).joined(separator: ", "))),
            ("authority", .flag(certificate.isAuthority)),
            ("type", .text(certificate.keyKind.name)), ("bits", .number(certificate.keyKind.bits)),
            ("certificate_sha256", .text(Hex.encode(certificate.fingerprint))),
        ]
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
        if key.kind == .x25519, let recipient = try? AgeRecipient(key) { facts.append(("age", .text(recipient.text))) }
        return facts
    }

    private static func document(_ facts: [(String, JSONValue)]) -> JSONDocument {
        var document = JSONDocument()
        for (name, value) in facts { document.field(name, value) }
        return document
    }

    /// Prints the facts of a file, then those of the things in it.
    private func print(
        _ facts: [(String, JSONValue)], named name: String, _ parts: [[(String, JSONValue)]], _ context: CommandContext
    ) throws {
        guard context.output.format == .json else {
            try print(facts, context)
            for part in parts { try print(part, context, continues: true) }
            return
        }
        var document = Self.document(facts)
        document.objects(name, parts) { part, entry in
            for (name, value) in part { entry.field(name, value) }
        }
        try context.output.document(document)
    }

    private func print(_ facts: [(String, JSONValue)], _ context: CommandContext, continues: Bool = false) throws {
        guard context.output.format != .json else { return try context.output.document(Self.document(facts)) }
        let rows = facts.map { name, value in
            switch value {
            case .text(let text): [name, text]
            case .time(let seconds): [name, context.output.time(seconds)]
            case .number(let number): [name, "\(number)"]
            case .decimal(let number): [name, "\(number)"]
            case .flag(let flag): [name, flag ? "yes" : "no"]
            case .list, .null: [name, ""]
            }
        }
        try context.output.rows(rows, header: ["FACT", "VALUE"], continues: continues)
    }
}
