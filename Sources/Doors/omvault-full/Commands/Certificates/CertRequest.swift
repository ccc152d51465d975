internal import ArgumentParser
internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault cert csr`: a request for a certificate, with a new key or with the key of an identity.
struct CertRequest: Verb {
    static let configuration = CommandConfiguration(
        commandName: "csr",
        abstract: "Make a request for a certificate.",
        discussion: """
            Without an identity of this name it makes a private key in the vault first, which waits for its certificate. With one it
            uses that key, for a new certificate. The request is PKCS#10 in PEM. An authority answers it with a certificate;
            'omvault cert attach' adds it to the key.

            The subject is a name as RFC 4514 writes it: \(DistinguishedName.AttributeType.names). Before a comma in a value is a
            backslash. Types of keys: \(CertRequest.types).

              omvault cert csr db --subject 'CN=db,O=Example GmbH,C=DE' --san DNS:db.example.org -o db.csr
            """)

    static let types = KeyKind.standard.filter(\.signs).map(\.name).joined(separator: ", ")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The identity.", completion: .identities)
    var name: String

    @Option(help: ArgumentHelp("The name that the certificate is for.", valueName: "name"))
    var subject: String

    @Option(
        help: ArgumentHelp(
            "An alternative name: DNS:NAME, IP:ADDRESS, URI:ADDRESS or email:ADDRESS; may be repeated.", valueName: "name"))
    var san: [String] = []

    @Option(
        help: ArgumentHelp("The type of a new key; by default ec-p256.", valueName: "type"), completion: .algorithms("key-type"))
    var type: String?

    @Option(
        name: [.customShort("o"), .customLong("out")], help: ArgumentHelp("Where it goes.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace the file of -o.")
    var force = false

    func run(_ context: CommandContext) throws {
        let subject = try subjectName()
        let names = try san.map { try alternativeName($0) }
        let kind = try self.type.map { try keyKind($0) }
        do throws(VaultError) { _ = try ClientIdentity.itemName(name) } catch { throw Failure(error, vault: nil) }
        var target = try OutputFile(output, replacing: force, isPublic: true)
        if !target.isStandardOutput { try target.prepare() }
        let access = try VaultAccess(context)
        let options = try unlock.options()
        try access.unlock(try SecretSources(context, options.sources), options)
        let identity = try present(access)
        let key =
            if let identity { try self.key(of: identity, kind, access) } else { try PrivateKey.generate(kind ?? .ec(.p256)) }
        let request = try certificationRequest(key, subject: subject, names: names)
        // The key is stored before its request is anywhere, so that no certificate is issued for a key that is lost.
        if identity == nil {
            try access.addIdentity(name, key: key)
            context.output.notice("made \(key.kind.name), \(key.kind.bits) bits: \"\(name)\" waits for its certificate")
        }
        let text = KeyText.pem(certificationRequest: request)
        try target.write(SecretBytes(copying: Array(text.utf8)))
        try target.finish(context)
    }

    private func subjectName() throws -> DistinguishedName {
        do throws(CryptoError) { return try DistinguishedName(subject) } catch {
            throw Failure(
                .usage, "\"\(subject)\" is not a name of a subject",
                hint: "such as 'CN=db,O=Example GmbH,C=DE'; attributes: \(DistinguishedName.AttributeType.names)"
            ).with(sdkCode: error.sdkCode)
        }
    }

    private func alternativeName(_ text: String) throws -> SubjectName {
        do throws(CryptoError) { return try SubjectName(text) } catch {
            throw Failure(
                .usage, "\"\(text)\" is not an alternative name",
                hint: "such as DNS:db.example.org, IP:192.0.2.7, URI:https://db.example.org/ or email:ada@example.org"
            ).with(sdkCode: error.sdkCode)
        }
    }

    private func keyKind(_ text: String) throws -> KeyKind {
        guard let found = KeyKind.standard.first(where: { $0.name == text.lowercased() && $0.signs }) else {
            throw Failure(.usage, "there is no type \"\(text)\" of keys that sign", hint: "one of: \(Self.types)")
                .with(sdkCode: CryptoError.wrongKeyType.sdkCode)
        }
        return found
    }

    private func present(_ access: VaultAccess) throws(Failure) -> ClientIdentity? {
        do throws(Failure) { return try access.clientIdentity(named: name) } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    private func key(of identity: ClientIdentity, _ kind: KeyKind?, _ access: VaultAccess) throws -> PrivateKey {
        let key = try access.privateKey(of: identity)
        guard kind.map({ $0.name == key.kind.name }) ?? true else {
            throw Failure(
                .exists, "\"\(name)\" has a key of type \(key.kind.name)",
                hint: "leave out --type for a new certificate of this key, or choose another name")
        }
        return key
    }
}

extension DistinguishedName.AttributeType {
    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
