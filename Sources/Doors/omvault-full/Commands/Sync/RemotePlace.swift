// The one place where a command reaches the folder or the server of a remote.

internal import OMAgent
internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSystem
internal import OMVault

/// Where the user keeps remotes: a folder on a stick, on a share, or for a tool that syncs it; or an account at a server.
///
/// Every access to it starts here, and another process does it.
struct RemotePlace {
    /// What reads and writes one remote.
    typealias Store = RemotePlaceStore

    /// What this process has of the account at a server.
    private enum Account {
        /// A folder has none.
        case none
        /// The login that a vault keeps for this incarnation.
        case kept(VaultServerLogin, KnownFiles, incarnation: [UInt8])
        /// A login that is in no vault yet.
        case held(HeldServerLogin)
    }

    /// The absolute path of a folder, or the address of a server.
    let path: String
    private let account: Account
    /// The remote that the user named behind the address of a server.
    private let named: RemoteFolderName?

    private init(_ path: String, _ account: Account, named: RemoteFolderName? = nil) {
        (self.path, self.account, self.named) = (path, account, named)
    }

    /// - Parameter given: As the user gave it: the path of a folder, or the address of a server.
    init(given: String) throws(Failure) {
        guard given.hasPrefix("https://") || given.hasPrefix("http://") else {
            self.init(AbsolutePath.absolute(given), .none)
            return
        }
        var url = given[...]
        while url.hasSuffix("/") { url.removeLast() }
        let isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !url.contains { "?#@\"".contains($0) }
        guard isPlain, url.utf8.count <= RemoteRow.maximumPath else {
            throw Failure(
                .usage, "\"\(given.shown)\" is no address of a server", hint: "it has the form https://HOST[:PORT][/PATH]")
        }
        let named = RemoteFolderName(FilePath.name(of: String(url)))
        self.init(named == nil ? String(url) : FilePath.folder(of: String(url)), .none, named: named)
    }

    /// For words about a remote. Without its vault, a server is not asked.
    init(of remote: RemoteRow) { self.init(remote.path, .none) }

    /// - Throws: ``VaultError``.
    init(of remote: RemoteRow, in vault: borrowing Vault) throws(VaultError) {
        guard remote.url != nil else {
            self.init(remote.path, .none)
            return
        }
        let login = VaultServerLogin(of: remote, in: vault)
        self.init(remote.path, .kept(login, try vault.knownFiles(of: remote), incarnation: remote.incarnation))
    }

    /// The same server with a login.
    func loggedIn(_ login: ServerLogin) -> RemotePlace { RemotePlace(path, .held(HeldServerLogin(login)), named: named) }

    var isServer: Bool { !path.hasPrefix("/") }

    /// The login that is in no vault yet. Nil for a folder.
    var heldLogin: ServerLogin? {
        if case .held(let login) = account { login.login() } else { nil }
    }

    /// `the folder "/media/stick"`
    var words: String { "\(isServer ? "the server" : "the folder") \"\(path.shown)\"" }

    // MARK: - Remotes

    /// The remotes in this folder, or of this account.
    ///
    /// - Parameter vault: The vault's id. Nil for those of all vaults.
    func remotes(of vault: [UInt8]? = nil) throws(Failure) -> [RemoteFolderName] {
        guard isServer else {
            let all: [RemoteFolderName]
            do throws(StorageError) { all = try RemoteFolderName.all(in: path) } catch { throw unreachable(error) }
            return all.filter { vault == nil || $0.vault == vault }
        }
        do throws(RemoteFailure) {
            return try server(vault: vault, incarnation: nil).remotes()
                .map { RemoteFolderName(vault: $0.vault, incarnation: $0.incarnation) }
        } catch { throw failure(error) }
    }

    /// The remotes that the user means: those in this folder or of this account, or the named one.
    func namedRemotes(of vault: [UInt8]? = nil) throws(Failure) -> (place: RemotePlace, names: [RemoteFolderName]) {
        if let named { return (self, [named]) }
        guard !isServer, let own = RemoteFolderName(FilePath.name(of: path)) else { return (self, try remotes(of: vault)) }
        let above = RemotePlace(FilePath.folder(of: path), account)
        return (above, try above.remotes().filter { $0 == own })
    }

    func store(_ remote: RemoteFolderName) -> Store { RemotePlaceStore(of: confined(remote), in: self) }

    private func confined(_ remote: RemoteFolderName) -> ConfinedRemote {
        guard !isServer else { return .server(server(vault: remote.vault, incarnation: remote.incarnation)) }
        return .folder(
            ConfinedFolder(in: path, vault: remote.vault, incarnation: remote.incarnation, helper: Self.program))
    }

    private func server(vault: [UInt8]?, incarnation: [UInt8]?) -> ConfinedServer {
        let keeper: any ServerLoginKeeper
        var files = KnownFiles()
        switch account {
        case .none: keeper = NoServerLogin()
        case .held(let login): keeper = login
        case .kept(let login, let known, let own):
            keeper = login
            if incarnation == own { files = known }
        }
        return ConfinedServer(
            at: path, vault: vault, incarnation: incarnation, login: keeper, knowing: files, helper: Self.program)
    }

    /// Logs in at this server with the account's password.
    func logIn(
        _ user: String, password: consuming SecretBytes, trusting trusted: [UInt8], device: String
    ) throws(Failure) -> ServerLogin {
        do throws(RemoteFailure) {
            return try ConfinedServer.logIn(
                at: path, trusting: trusted, user, password: password, device: device, helper: Self.program)
        } catch { throw failure(error) }
    }

    /// Ends a login at this server. The user does not wait long for it.
    ///
    /// - Returns: false if the server did not say that it is done.
    func logOut(_ login: ServerLogin) -> Bool {
        do throws(RemoteFailure) {
            try ConfinedServer.logOut(login, at: path, helper: Self.program, within: 15_000)
            return true
        } catch { return false }
    }

    /// Runs `body`. If it fails, ends the login that no vault keeps yet.
    func endingLogin<R>(ifFails body: () throws -> R) throws -> R {
        do { return try body() } catch {
            endHeldLogin()
            throw error
        }
    }

    func endHeldLogin() { if let heldLogin { _ = logOut(heldLogin) } }

    /// Without a path the first call says that the program is missing.
    private static var program: String { (try? AgentLauncher.program()) ?? AgentProcess.programName }

    /// Makes a remote with entry 0 of the roll.
    func make(_ remote: RemoteFolderName, founding: RollEntry) throws(Failure) {
        try store(remote).make(founding: founding)
    }

    /// Runs `body` on files of this folder or server.
    func run<R>(_ body: () throws -> R) throws(Failure) -> R {
        do { return try body() } catch let failure as Failure { throw failure } catch let error as StorageError {
            throw unreachable(error)
        } catch { throw Failure(anyError: error) }
    }
}

/// A server without a login of this process.
private final class NoServerLogin: ServerLoginKeeper {
    func login() -> ServerLogin? { nil }
    func keep(_ login: ServerLogin) {}
    func refreshing<R>(_ body: () -> R) -> R { body() }
}
