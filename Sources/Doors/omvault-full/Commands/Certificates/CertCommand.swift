// `omvault cert`: client identities, each a private key with its certificate, as items of a vault.

internal import ArgumentParser
internal import OMCrypto
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

struct CertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cert",
        abstract: "Keep client certificates with their private keys.",
        discussion: """
            An identity is a private key with its certificate. It is the item "identity.NAME" with the fields private, certificate
            and chain, all in PEM. Here --password-from is for the file, and --vault-password-from for the vault.
            """,
        subcommands: [
            CertImport.self, CertList.self, CertShow.self, CertRemove.self, CertRequest.self, CertAttach.self, CertTry.self,
        ])
}

/// An identity with what its certificate says. Nil: it has none, or none that can be read.
struct DescribedIdentity {
    let identity: ClientIdentity
    let description: CertificateDescription?

    init(_ identity: ClientIdentity) {
        self.identity = identity
        description = try? identity.certificate?.description()
    }

    init(_ identity: ClientIdentity, _ description: CertificateDescription) {
        (self.identity, self.description) = (identity, description)
    }

    /// Why the identity may not work now.
    enum Concern: String {
        case noCertificate = "no_certificate"
        case unreadable
        case expired
        case notYetValid = "not_yet_valid"
        case authority
        case notForClients = "not_for_clients"
    }

    var concerns: [Concern] {
        guard let description else {
            let hasField = identity.item.fields.contains { $0.name.text == ClientIdentity.Field.certificate.rawValue }
            return [hasField ? .unreadable : .noCertificate]
        }
        return Self.concerns(description)
    }

    static func concerns(_ description: CertificateDescription) -> [Concern] {
        let now = secondsNow()
        var found: [Concern] = []
        if description.notAfter < now { found.append(.expired) }
        if description.notBefore > now { found.append(.notYetValid) }
        if description.isAuthority { found.append(.authority) }
        if !description.isForClients { found.append(.notForClients) }
        return found
    }

    /// The members of the JSON of an identity, in `ls` and `show`.
    func write(to object: inout JSONDocument) {
        object.field("name", .text(identity.name))
        object.field("item", .text(identity.item.name.text))
        object.field("level", .text(identity.level.name))
        object.field("device_only", .flag(identity.level.isDeviceOnly))
        if let description {
            object.field("subject", .text(description.subject))
            object.field("issuer", .text(description.issuer))
            object.field("not_before", .time(description.notBefore))
            object.field("not_after", .time(description.notAfter))
            object.field("type", .text(description.keyKind.name))
            object.field("bits", .number(description.keyKind.bits))
            object.field("certificate_sha256", .text(Hex.encode(description.fingerprint)))
        }
        object.field("chain", .number(identity.chain.count))
        object.field("concerns", .list(concerns.map { .text($0.rawValue) }))
    }
}

extension DescribedIdentity.Concern {
    /// Behind the name of the identity.
    func words(_ output: Output, _ description: CertificateDescription?) -> String {
        switch self {
        case .noCertificate: "has no certificate yet"
        case .unreadable: "has a certificate that cannot be read"
        case .expired: "has a certificate that expired \(description.map { output.time($0.notAfter) } ?? "")"
        case .notYetValid: "has a certificate that is valid from \(description.map { output.time($0.notBefore) } ?? "")"
        case .authority: "has the certificate of an authority; servers may refuse it"
        case .notForClients: "has a certificate that does not allow the authentication of clients"
        }
    }
}

struct CertList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the client identities of a vault.",
        discussion: """
            STATE is ok, or says why a server may refuse the identity.

              omvault cert ls
              omvault cert ls --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        // The vault is closed again before certificates are parsed.
        let found = try stored(context).map { DescribedIdentity($0) }
        try context.output.list(
            "identities", found, columns: ["NAME", "SUBJECT", Column.time("NOT AFTER"), "STATE"],
            row: { one in
                let state = one.concerns.map { $0.rawValue.replacing("_", with: " ") }
                return [
                    one.identity.name, one.description?.subject ?? "-",
                    one.description.map { context.output.time($0.notAfter) } ?? "-",
                    state.isEmpty ? "ok" : state.joined(separator: ", "),
                ]
            }, object: { $0.write(to: &$1) })
    }

    private func stored(_ context: CommandContext) throws -> [ClientIdentity] {
        let access = try VaultAccess(context)
        let options = try unlock.options()
        try access.unlock(try SecretSources(context, options.sources), options)
        return try access.clientIdentities()
    }
}

struct CertShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what the certificate of an identity says.",
        discussion: """
            Nothing that a certificate says is verified here. 'omvault get identity.NAME:certificate' prints it as PEM.

              omvault cert show ada
              omvault get identity.ada:certificate | openssl x509 -noout -text
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The identity.", completion: .identities)
    var name: String

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let found = DescribedIdentity(try stored(context))
        guard context.output.format == .json else {
            return try context.output.rows(rows(found, context.output), header: ["FACT", "VALUE"])
        }
        var document = JSONDocument()
        found.write(to: &document)
        if let description = found.description {
            document.field("serial", .text(description.serial))
            document.field("names", .list(description.names.map { .text($0.text) }))
        }
        document.field("authorities", .list(authorities(found).map { .text($0) }))
        try context.output.document(document)
    }

    private func stored(_ context: CommandContext) throws -> ClientIdentity {
        let access = try VaultAccess(context)
        let options = try unlock.options()
        try access.unlock(try SecretSources(context, options.sources), options)
        return try access.identity(name)
    }

    private func authorities(_ found: DescribedIdentity) -> [String] {
        found.identity.chain.map { $0.subject ?? "" }
    }

    private func rows(_ found: DescribedIdentity, _ output: Output) -> [[String]] {
        var rows = [["name", found.identity.name], ["item", found.identity.item.name.text]]
        rows.append(["level", found.identity.level.name + (found.identity.level.isDeviceOnly ? " (device only)" : "")])
        if let description = found.description {
            rows += [
                ["subject", description.subject], ["issuer", description.issuer], ["serial", description.serial],
                ["not before", output.time(description.notBefore)], ["not after", output.time(description.notAfter)],
                ["type", description.keyKind.name], ["bits", "\(description.keyKind.bits)"],
                ["sha256", Hex.encode(description.fingerprint)],
            ]
            rows += description.names.map { ["for", $0.text] }
        }
        rows += authorities(found).map { ["authority", $0] }
        rows += found.concerns.map { ["concern", $0.words(output, found.description)] }
        return rows
    }
}

extension VaultAccess {
    /// The identity of this name. The error says what to do if there is none.
    func identity(_ name: String) throws(Failure) -> ClientIdentity {
        do throws(Failure) { return try clientIdentity(named: name) } catch {
            guard error.status == .notFound else { throw error }
            throw Failure(
                .notFound, "no identity \"\(name)\" in vault \"\(location.name)\"", hint: "omvault cert ls lists them"
            ).with(sdkCode: error.sdkCode)
        }
    }

    /// The private key of an identity, in this process.
    func privateKey(of identity: ClientIdentity) throws -> PrivateKey {
        guard let text = try keyText(of: identity) else {
            throw Failure(
                .corrupt, "the field \"private\" of \"\(identity.item.name.text)\" cannot be read",
                hint: "omvault history \(identity.item.name.text.asShellWord) shows its earlier versions")
        }
        return try Failure.naming("\(identity.item.name.text):private") { try KeyFile(text).privateKey() }
    }
}
