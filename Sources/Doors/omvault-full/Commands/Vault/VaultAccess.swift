// A command's access to a vault: its file, the device folder, and the unlocked vault.

internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

/// The vault of a command. It is opened when it is first needed.
///
///     let access = try VaultAccess(context)
///     try access.unlock(secrets, options)
///     let item = try access.perform(.item(name)).item()
final class VaultAccess {
    let context: CommandContext
    let location: VaultLocation
    let device: DeviceFolder?
    /// The path of the device folder. Empty if there is none.
    let deviceFolder: String
    let acceptsRollback: Bool
    /// Not nil once the vault is unlocked in this process.
    private var unlocked: Vault?
    /// Not nil once the agent serves the vault instead.
    private var unlockedAgent: AgentVaultClient?
    /// Whether a secret is refused while a conflict copy has another value. If not, a warning names the copy.
    var refusesCopies = false
    /// Whether the agent did not answer in time. It is not asked again.
    var isAgentSilent = false
    /// The agent, if the last reading was answered there.
    private(set) var answering: AgentVaultClient?

    /// - Parameter name: The vault that a reference names. Nil for the vault of `--vault`.
    init(_ context: CommandContext, vault name: String? = nil, acceptsRollback: Bool = false) throws(Failure) {
        let folders = try context.userFolders()
        self.context = context
        self.acceptsRollback = acceptsRollback
        location = if let name { try VaultLocation(name, in: folders) } else { try context.vault(folders) }
        device = try folders.deviceFolder()
        deviceFolder = device == nil ? "" : folders.device
    }

    /// Runs `body` on the vault. Its errors get the vault's name.
    func run<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(Failure) -> R {
        do throws(VaultError) { return try body() } catch { throw failure(error) }
    }

    /// The error in words, with the vault's name. Of a vault that is not there it says which ones are.
    func failure(_ error: VaultError) -> Failure {
        let failure = Failure(error, vault: location.name)
        guard error == .noVault, let folders = try? context.userFolders() else { return failure }
        let names = VaultList.names(in: folders)
        var hints = names.isEmpty ? [] : ["vaults here: \(VaultList.words(names))"]
        // The user did not type this name now.
        if (try? DefaultVault(folders).chosen()) == location.name, context.vaultGiven == nil {
            hints.append("it is your default vault; omvault vault default NAME chooses another")
        }
        guard !hints.isEmpty else { return failure }
        return Failure(
            failure.status, failure.message, hints: hints + failure.hints,
            details: names.isEmpty ? [:] : ["vaults": .list(names.map { .text($0) })]
        ).with(sdkCode: failure.sdkCode)
    }

    func file() throws(Failure) -> VaultFile {
        try run { () throws(VaultError) in
            try VaultFile.open(location.path, device: device, acceptsRollback: acceptsRollback)
        }
    }

    /// Unlocks the vault once, as the options say. If the vault is unlocked in the agent, it uses the agent.
    func unlock(_ secrets: borrowing SecretSources, _ options: UnlockOptions) throws(Failure) {
        guard !isUnlocked else { return }
        unlockedAgent = agentIfUnlocked(options)
        if unlockedAgent == nil { unlocked = try open(secrets, options) }
    }

    /// The policy of the vault. Nil unless it is unlocked in this process.
    func unlockedPolicy() throws(Failure) -> VaultPolicy? {
        switch unlocked {
        case .some(let vault):
            do throws(VaultError) { return try vault.settings().policy } catch {
                throw Failure(error, vault: location.name)
            }
        case .none: return nil
        }
    }

    private var isUnlocked: Bool {
        switch unlocked {
        case .some: true
        case .none: unlockedAgent != nil
        }
    }

    /// Reads or changes the unlocked vault. Call ``unlock(_:_:)`` first.
    func perform(_ request: consuming ItemRequest) throws(Failure) -> ItemReply {
        switch unlocked {
        case .some(let vault):
            let isChange = request.isChange
            do throws(VaultError) { return try vault.perform(request) } catch {
                throw Failure(error, vault: location.name, isOfChange: isChange)
            }
        case .none:
            guard let unlockedAgent else { preconditionFailure("the vault is asked before it is unlocked") }
            return try unlockedAgent.perform(request)
        }
    }

    /// Reads one secret of the unlocked vault. Call ``unlock(_:_:)`` first.
    func secret(_ path: FieldPath) throws(Failure) -> SecretBytes {
        switch try perform(.secret(path, revision: nil)) {
        case .hasCopies(let copies, let revision):
            try warn(ofCopies: copies, revision, .secret(path, revision: nil))
            return try perform(.secret(path, revision: revision)).secret()
        case let reply: return try reply.secret()
        }
    }

    /// Reads from the agent, else from the items that need no password, else from the unlocked vault. Warns if a conflict copy has
    /// another value.
    func read(
        _ request: @autoclosure () -> ItemRequest, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) -> ItemReply {
        switch try readOnce(request(), secrets, options) {
        case .hasCopies(let copies, let revision):
            try warn(ofCopies: copies, revision, request())
            return try readOnce(request().at(revision), secrets, options)
        case let reply: return reply
        }
    }

    private func warn(
        ofCopies copies: [ItemName], _ revision: UInt64, _ request: consuming ItemRequest
    ) throws(Failure) {
        guard case .secret(let path, _) = request else { throw .unexpectedReply }
        let names = copies.map { "\"\($0.text.shown)\"" }.joined(separator: ", ")
        let words =
            "\"\(path.field.text.shown)\" of \"\(path.item.text.shown)\" has another value in "
            + (copies.count == 1 ? "the conflict copy \(names)" : "the conflict copies \(names)")
        guard !refusesCopies else {
            throw Failure(
                .conflict, words, hint: "omvault sync diff \(path.item.text.asShellWord) shows both",
                "omvault sync resolve settles it", details: ["copies": .list(copies.map { .text($0.text) })])
        }
        context.output.notice("warning: \(words): omvault sync diff \(path.item.text.asShellWord)")
    }

    private func readOnce(
        _ request: @autoclosure () -> ItemRequest, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) -> ItemReply {
        if let agent = agent(options) {
            switch ask(agent, request()) {
            case .reply(let reply):
                answering = agent
                return reply
            case .failure(let error): throw failure(error)
            case .locked: break
            case .none: break
            }
        }
        answering = nil
        return try readHere(request(), secrets, options)
    }

    /// Reads more of what ``read(_:_:_:)`` has just read, from the same place. It never asks for a password: the
    /// output may have the start of a value by now.
    ///
    /// - Throws: ``ExitStatus/locked`` if the agent locked the vault meanwhile.
    func readMore(_ request: @autoclosure () -> ItemRequest) throws(Failure) -> ItemReply {
        guard !isUnlocked else { return try perform(request()) }
        guard let answering else {
            return try run { () throws(VaultError) in
                try VaultFile.openWithAlways(location.path, device: device, acceptsRollback: acceptsRollback)
                    .always.perform(request())
            }
        }
        let reply: AgentItemReply
        do throws(AgentError) { reply = try answering.client.perform(answering.paths, request()) } catch {
            throw Failure(error)
        }
        switch consume reply {
        case .reply(let reply): return reply
        case .failure(let error): throw failure(error)
        case .locked:
            throw Failure(
                .locked, "the agent locked vault \"\(location.name.shown)\" before everything was read: the output is not whole",
                hint: "omvault unlock, then run the command again")
        }
    }

    /// Reads in this process: from the items that need no password, else from the unlocked vault.
    func readHere(
        _ request: @autoclosure () -> ItemRequest, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) -> ItemReply {
        let opened = try run { () throws(VaultError) in
            try VaultFile.openWithAlways(location.path, device: device, acceptsRollback: acceptsRollback)
        }
        do throws(VaultError) { return try opened.always.perform(request()) } catch {
            guard case .noItem = error else { throw Failure(error, vault: location.name) }
        }
        if !isUnlocked {
            // Only --keyslot can mean a slot of a login. Its unlock may wait for the login's ledger and its server.
            let file = opened.intoFile(keepingConnection: secrets.areAtHand && options.keyslot == nil)
            unlocked = try openSlot(secrets, options, in: file).intoVault()
        }
        return try perform(request())
    }

    /// Runs `body`, which reads an item. If the item is in the trash, the error says how to restore it.
    func explainingTrash(_ name: ItemName, _ options: UnlockOptions, _ body: () throws -> Void) throws {
        do { try body() } catch let failure as Failure { throw explainingTrash(failure, [name], options) }
    }

    /// The error of a command that needs these items. If it is about one that is in the trash, its hint says how to
    /// restore it.
    func explainingTrash(_ failure: Failure, _ names: [ItemName], _ options: UnlockOptions) -> Failure {
        guard let name = names.first(where: { isTrashed($0, behind: failure, options) }) else { return failure }
        return failure.with(hints: ["it is in the trash: omvault restore \(name.text.asShellWord)"])
    }

    /// Whether an item that was not found is in the trash, as far as the vault is open.
    private func isTrashed(_ name: ItemName, behind failure: Failure, _ options: UnlockOptions) -> Bool {
        guard failure.vaultError == .noItem(name) else { return false }
        if isUnlocked { return Self.holds(name, try? perform(.names(trashed: true))) }
        guard let agent = agent(options), case .reply(let reply) = ask(agent, .names(trashed: true)) else { return false }
        return Self.holds(name, reply)
    }

    private static func holds(_ name: ItemName, _ reply: consuming ItemReply?) -> Bool {
        guard let reply, let names = try? reply.names() else { return false }
        return names.names.contains(name)
    }
}

extension ItemRequest {
    /// The same question about a revision of the item.
    fileprivate consuming func at(_ revision: UInt64) -> ItemRequest {
        switch consume self {
        case .secret(let path, _): .secret(path, revision: revision)
        case let request: request
        }
    }
}

extension ItemReply {
    /// The item that was read, or the item after its change.
    consuming func item() throws(Failure) -> Item {
        switch consume self {
        case .item(let item): return item
        case .changed(let item, _): return item
        case .secrets(let item, _): return item
        default: throw .unexpectedReply
        }
    }

    consuming func items() throws(Failure) -> [Item] {
        switch consume self {
        case .items(let items): return items
        case .found(let items, _): return items
        default: throw .unexpectedReply
        }
    }

    consuming func names() throws(Failure) -> ItemNames {
        switch consume self {
        case .names(let names, _): return names
        default: throw .unexpectedReply
        }
    }

    consuming func secret() throws(Failure) -> SecretBytes {
        switch consume self {
        case .secret(let secret): return secret
        case .large(let count, let revision, let digest):
            throw Failure(VaultError.largeValue(count: count, revision: revision, digest: digest), vault: "")
        default: throw .unexpectedReply
        }
    }

    /// How many values a search did not look into.
    var unsearched: Int {
        switch self {
        case .found(_, let unsearched): unsearched
        case .names(_, let unsearched): unsearched
        default: 0
        }
    }

    /// Whether a change's removed bytes are erased. Nil if there were none.
    var purge: PurgeResult? {
        switch self {
        case .changed(_, let purge): purge
        case .removed(_, let purge): purge
        default: nil
        }
    }
}

extension Failure {
    static var unexpectedReply: Failure {
        Failure(
            .general, "the vault's answer does not belong to the question", hint: "omvault agent stop, then run the command again"
        )
    }
}
