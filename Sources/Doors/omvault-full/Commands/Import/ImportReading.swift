// The reading of an import's file: the confined process, and the questions for the file's password.

internal import OMAgent
internal import OMInterchange
internal import OMSecrets
internal import OMShell
internal import OMVault

/// Everything in a file.
struct ImportReading {
    let format: ForeignFormat
    /// Whether the file itself is encrypted.
    let isEncrypted: Bool
    let entries: [ForeignEntry]
    private(set) var summary: ForeignSummary
    /// What of a store is not in the vault afterwards: one line for each file.
    private(set) var leftOut: [String] = []
    /// The files of a store that could not be opened, and the error that says so once the others are imported.
    private(set) var unopened: Failure?

    /// Reads a store of pass.
    ///
    /// - Parameter keyFile: The path of age's identities.
    init(
        _ store: PassStore, _ secrets: borrowing SecretSources, _ context: CommandContext, keyFile: String?
    ) throws {
        let decrypted = try PassReading(store, secrets, keyFile: keyFile, context)
        leftOut = decrypted.unopened + decrypted.leftOut
        unopened = decrypted.failure
        (format, isEncrypted) = (.pass, true)
        let reader = try Self.reader(store.path)
        (entries, summary) = try decrypted.send { (descriptor) throws(Failure) in
            _ = try Self.running(store.path) { () throws(ConfinedImport.Failure) in
                try reader.open(descriptor, as: .pass, map: nil)
            }
            return try Self.read(reader, ForeignKey(password: nil), context, file: store.path)
        }
    }

    /// - Parameters:
    ///   - file: Its name, for messages.
    ///   - keyFile: The path of the file's key file.
    init(
        _ source: borrowing SourceFile, as format: ForeignFormat?, map: CSVMap?, _ secrets: borrowing SecretSources,
        _ context: CommandContext, file: String, keyFile: String?, asksForPassword: Bool
    ) throws {
        let reader = try Self.reader(file)
        let given = format == nil && map != nil ? .csv : format
        let descriptor = source.descriptor
        let found = try Self.running(file) { () throws(ConfinedImport.Failure) in
            try reader.open(descriptor, as: given, map: map)
        }
        (self.format, isEncrypted) = (found.format, found.needsKey)
        guard isEncrypted else {
            (entries, summary) = try Self.read(reader, ForeignKey(password: nil), context, file: file)
            return
        }
        let tries = SecretTries(.password, of: "--password-from", secrets, context) { Failure($0, vault: nil) }
        (entries, summary) = try tries.run { _ throws(Failure) in
            let key = try Self.key(secrets, keyFile: keyFile, asksForPassword: asksForPassword)
            return try Self.read(reader, key, context, file: file)
        }
    }

    private static func reader(_ file: String) throws(Failure) -> ConfinedImport {
        try running(file) { () throws(ConfinedImport.Failure) in
            try ConfinedImport((try? AgentLauncher.program()) ?? AgentProcess.programName)
        }
    }

    private static func key(
        _ secrets: borrowing SecretSources, keyFile: String?, asksForPassword: Bool
    ) throws(Failure) -> ForeignKey {
        var password: SecretBytes? = nil
        if asksForPassword {
            password = try secrets.read("--password-from", prompt: "Password of the file", canBeEmpty: true)
        }
        guard let keyFile else { return ForeignKey(password: password) }
        // Opaque bytes here: the confined process finds out what they are.
        let bytes = try InputFile(keyFile).readWhole(maximum: 1 << 20, hint: "a key file is short")
        return ForeignKey(password: password, keyFile: bytes)
    }

    private static func read(
        _ reader: ConfinedImport, _ key: consuming ForeignKey, _ context: CommandContext, file: String
    ) throws(Failure) -> ([ForeignEntry], ForeignSummary) {
        var line = ProgressLine(isQuiet: context.output.isQuiet)
        defer { line.end() }
        var entries: [ForeignEntry] = []
        do throws(ConfinedImport.Failure) {
            let summary = try reader.read(with: key) { entry in
                entries.append(entry)
                line.show("\(entries.count) entries read")
            }
            return (entries, summary)
        } catch { throw Failure(error, file) }
    }

    private static func running<R: ~Copyable>(
        _ file: String, _ body: () throws(ConfinedImport.Failure) -> R
    ) throws(Failure) -> R {
        do throws(ConfinedImport.Failure) { return try body() } catch { throw Failure(error, file) }
    }
}
