internal import ArgumentParser
internal import OMCrypto
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault cert import`: the identities of a PKCS#12 file become items.
struct CertImport: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put the identities of a PKCS#12 file into the vault.",
        discussion: """
            Each private key of the file becomes an item with its certificate and its chain: all of them or none. The file stays as
            it is. With --delete-source it is deleted once its identities are safely stored; its blocks may remain on the disk.
            Without --level an identity can be read while the vault is unlocked, and never leaves this device.

            The same import again changes nothing and is no error. A warning says so if --level names another level than the
            identity has. Another identity of the name is exit 5.

              omvault cert import ada.p12
              omvault cert import ada.p12 --name work --password-from file:pw --delete-source
              omvault cert import keys.p12 --identity 2
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions
    @OptionGroup var level: LevelOptions
    @OptionGroup var work: WorkOptions

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The name of the identity, if the file has only one or --identity chooses it.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Where the file's password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp("Import only this key, by its name in the file or by its number.", valueName: "name|number"))
    var identity: String?

    @Flag(help: "Delete the file afterwards, if everything in it was imported.")
    var deleteSource = false

    func validate() throws {
        if deleteSource, identity != nil {
            throw ValidationError("--delete-source would delete the other keys of the file too: leave out --identity")
        }
    }

    func run(_ context: CommandContext) throws {
        let wanted = try level.level(default: .highest)
        let options = try unlock.options()
        let isStandardInput = InputFile.isStandardInput(file)
        // The variable OMVAULT_PASSWORD_FROM is for the vault.
        let secrets = try SecretSources(
            context, [("--password-from", passwordFrom ?? SecretSourceArgument(.tty))] + options.sources,
            standardInputIsDataOf: isStandardInput ? "the file" : nil)
        // Everything foreign is read and checked before this process has a key of the vault.
        let source = try SourceFile.open(file, deletes: deleteSource)
        let new = try identities(source, secrets, context)
        let access = try VaultAccess(context)
        try access.unlock(secrets, options)
        let stored: [(identity: ClientIdentity, isNew: Bool)]
        do throws(Failure) { stored = try access.importIdentities(new, level: wanted ?? .highest) } catch {
            throw error.status == .exists ? Self.exists(new, error, access) : error
        }
        // The commit is on the disk. A kill from here on leaves the file, and never loses the key.
        try source.delete()
        noticeOtherLevels(stored, wanted, context)
        try report(stored, new, context)
    }

    // MARK: The file

    private func identities(
        _ source: borrowing SourceFile, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws -> [NewClientIdentity] {
        let bytes = try source.readWhole(maximum: KeyFile.maximumCount, hint: "a PKCS#12 file is short")
        guard PKCS12File.isPKCS12(bytes) else { throw Self.noPKCS12.about(file) }
        let contents = try open(bytes, secrets, context)
        if deleteSource, contents.otherSecrets > 0 {
            throw Failure(
                .policy, "the file has other secrets too, which omvault does not import; nothing was imported",
                hint: "leave out --delete-source"
            ).about(file)
        }
        var found: [NewClientIdentity]
        do throws(CryptoError) { found = try NewClientIdentity.all(in: contents) } catch {
            throw Failure(ofIdentity: error).about(file)
        }
        if identity != nil {
            let opening = KeyFileOpening(passwordOption: "--password-from", limit: work.limit, identity: identity)
            let wanted = try opening.identity(in: contents)
            let index = contents.identities.firstIndex { $0 === wanted }
            found = index.map { [found[$0]] } ?? []
        }
        guard let name else { return found }
        guard found.count == 1 else {
            throw Failure(
                .ambiguous, "the file has \(found.count) keys, and --name names one identity",
                hint: "choose one with --identity, or leave out --name; omvault crypto inspect lists them")
        }
        do throws(VaultError) { return [try found[0].named(name)] } catch { throw Failure(error, vault: nil) }
    }

    private func open(
        _ bytes: borrowing SecretBytes, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws(Failure) -> PKCS12Contents {
        let tries = SecretTries(.password, of: "--password-from", secrets, context) { Failure($0, vault: nil) }
        let (file, limit) = (file, work.limit)
        return try tries.run { _ throws(Failure) in
            do throws(CryptoError) { _ = try PKCS12File(bytes) } catch { throw Failure(ofIdentity: error).about(file) }
            let password = try secrets.read("--password-from", prompt: "Password of the file")
            do throws(CryptoError) { return try PKCS12File(bytes).open(password: password, limit: limit) } catch {
                throw Failure(ofIdentity: error).about(file)
            }
        }
    }

    private static let noPKCS12 = Failure(
        .corrupt, "this is not a PKCS#12 file in strict DER",
        hint: "for a file in BER: openssl pkcs12 -in FILE -nodes | openssl pkcs12 -export -out NEW",
        "for PEM files: omvault crypto convert --in KEY --to p12 --cert CERTIFICATES -o NEW"
    ).with(sdkCode: CryptoError.unknownKeyFormat.sdkCode)

    private static func exists(_ new: [NewClientIdentity], _ error: Failure, _ access: VaultAccess) -> Failure {
        let present = (try? access.clientIdentities().map(\.name)) ?? []
        let name = new.first { present.contains($0.name) }?.name ?? new.first?.name ?? ""
        return Failure(
            .exists, "\"\(name)\" is another identity in vault \"\(access.location.name)\"; nothing was imported",
            hint: "choose another name with --name", "for a new certificate of the same key: omvault cert attach"
        ).with(sdkCode: error.sdkCode)
    }

    // MARK: The report

    /// Without a notice the user would believe that the level of an earlier import is the one of this command.
    private func noticeOtherLevels(
        _ stored: [(identity: ClientIdentity, isNew: Bool)], _ wanted: ProtectionLevel?, _ context: CommandContext
    ) {
        guard let wanted else { return }
        for one in stored where !one.isNew && one.identity.level != wanted {
            let level = one.identity.level
            context.output.notice(
                "warning: \"\(one.identity.name)\" keeps its level \(level.name)\(level.isDeviceOnly ? " (device only)" : ""): "
                    + "omvault set \(one.identity.item.name.text.asShellWord) --level LEVEL changes it")
        }
    }

    private func report(
        _ stored: [(identity: ClientIdentity, isNew: Bool)], _ new: [NewClientIdentity], _ context: CommandContext
    ) throws {
        for (one, described) in zip(stored, new) {
            for concern in DescribedIdentity.concerns(described.description) {
                context.output.notice(
                    "warning: \"\(one.identity.name)\" \(concern.words(context.output, described.description))")
            }
        }
        guard context.output.format == .json else {
            for one in stored {
                context.output.notice(one.isNew ? "imported \"\(one.identity.name)\"" : "unchanged: \"\(one.identity.name)\"")
            }
            if deleteSource { context.output.notice("deleted \"\(file)\"") }
            return
        }
        var document = JSONDocument()
        document.objects("identities", Array(zip(stored, new))) { pair, object in
            object.field("result", .text(pair.0.isNew ? "imported" : "unchanged"))
            DescribedIdentity(pair.0.identity, pair.1.description).write(to: &object)
        }
        document.field("source_deleted", .flag(deleteSource))
        try context.output.document(document)
    }
}

extension Failure {
    /// - Parameter error: An error of a file of identities, or of a certificate beside a key.
    init(ofIdentity error: CryptoError) {
        switch error {
        case .noPrivateKey:
            self.init(
                .notFound, "the file has no private key",
                hint: "export the certificate together with its key")
        case .noCertificate:
            self.init(
                .notFound, "the file has a private key without a certificate",
                hint: "omvault crypto convert --in FILE --to-tag TAG keeps the key alone")
        case .foreignCertificate:
            self.init(
                .corrupt, "no certificate in the file belongs to the private key",
                hint: "take another copy of the file, or the certificate that was issued for this key")
        case .severalCertificates:
            self.init(
                .corrupt, "the file has more than one certificate for the private key",
                hint: "make a file with the certificate that you want: omvault crypto convert --to p12 --cert FILE")
        case .severalKeys:
            self.init(
                .corrupt, "the file has the same private key twice", hint: "make a file with one of them: omvault crypto convert")
        case .wrongKeyPassword:
            self.init(
                .badSecret, "wrong password, or the file was changed",
                hint: "the file is kept; try again")
        case .malformedKey(.pkcs12):
            self.init(
                .corrupt, "the file is damaged, or is not PKCS#12 in strict DER",
                hint: "for a file in BER: openssl pkcs12 -in FILE -nodes | openssl pkcs12 -export -out NEW")
        case .malformedKey(.pem):
            self.init(.corrupt, "a certificate cannot be read", hint: "take another copy of it")
        default: self = Failure(error)
        }
        self = with(sdkCode: error.sdkCode)
    }
}
