internal import ArgumentParser
internal import OMCrypto
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault cert attach`: a certificate for a key that is in the vault.
struct CertAttach: Verb {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Give an identity its certificate.",
        discussion: """
            The file has the certificate that was issued for the key of the identity, and may have those of its authorities: PEM in
            any order, or one in DER. A certificate of another key is exit 30. The earlier versions of the item keep the old
            certificate.

              omvault cert attach db db.crt
              cat db.crt chain.pem | omvault cert attach db -
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The identity.", completion: .identities)
    var name: String

    @Argument(help: "The file of the certificates; - is standard input.", completion: .file())
    var file: String

    func run(_ context: CommandContext) throws {
        let options = try unlock.options()
        let secrets = try SecretSources(
            context, options.sources, standardInputIsDataOf: InputFile.isStandardInput(file) ? "the file" : nil)
        let certificates = try descriptions()
        let access = try VaultAccess(context)
        try access.unlock(secrets, options)
        let identity = try access.identity(name)
        let new: NewClientIdentity
        let key = try access.privateKey(of: identity)
        do throws(CryptoError) { new = try NewClientIdentity(key, certificates, name: name) } catch {
            throw Failure(ofIdentity: error).about(file)
        }
        var isNew = true
        do throws(Failure) { try access.attach(new, to: identity) } catch {
            guard error.status == .unchanged else { throw error }
            isNew = false
        }
        for concern in DescribedIdentity.concerns(new.description) {
            context.output.notice("warning: \"\(name)\" \(concern.words(context.output, new.description))")
        }
        try context.output.done(
            isNew ? "attached the certificate to \"\(name)\"" : "unchanged: \"\(name)\" has this certificate",
            [
                "result": .text(isNew ? "attached" : "unchanged"), "name": .text(name),
                "item": .text(identity.item.name.text), "subject": .text(new.description.subject),
                "not_after": .time(new.description.notAfter), "chain": .number(new.chain.count),
                "concerns": .list(DescribedIdentity.concerns(new.description).map { .text($0.rawValue) }),
            ])
    }

    /// Attack: a certificate uses a flaw in OpenSSL's reader. So every certificate is read before the vault is open. Afterwards
    /// the key is only compared with them.
    private func descriptions() throws -> CertificateDescriptions {
        let bytes = try SourceFile.open(file, deletes: false)
            .readWhole(maximum: KeyFile.maximumCount, hint: "certificates are short files")
        do throws(CryptoError) { return try CertificateDescriptions(try Certificate.all(in: bytes)) } catch {
            throw Failure(ofIdentity: error).about(file)
        }
    }
}
