// A server as a remote, spoken to by a confined process. docs/formats/sync.md, "The server's helper".

internal import Glibc
internal import OMAgentProtocol
internal import OMItems
package import OMOnlineModel
package import OMParcels
internal import OMRecords
package import OMSecrets
package import OMSystem
package import OMVault

/// The files of a remote on a server, for a process that holds keys. It never speaks to the server. Its helper does, which holds no
/// key and no file, and one token of the account.
///
/// The first call starts the helper, and the end of this value ends it. One thread at a time uses the value.
package final class ConfinedServer: RemoteStore {
    package typealias Failure = RemoteFailure

    /// Each call's usual limit: two requests of the helper, of which each has 50 seconds.
    package static let usualTime = 120_000
    /// An exchange asks for the list several times. A list may be so old, in milliseconds.
    private static let freshTime: Int64 = 2_000
    private static let noRemote = [UInt8](repeating: 0, count: 16)

    private let url: String
    private let vault: [UInt8]
    private let incarnation: [UInt8]
    private let keeper: any ServerLoginKeeper
    private let helper: RemoteHelper
    private var known: KnownFiles
    private var listing: ServerListing?
    /// When it was read, in milliseconds since boot.
    private var listed = Int64.min / 2
    /// The files of the list, with what this value has written since. A digest is there for a file that is written over.
    private var present: [RemoteFile: [UInt8]?] = [:]
    /// The login whose token the helper has.
    private var used: ServerLogin?

    /// - Parameters:
    ///   - url: `https://HOST[:PORT][/PATH]`, or http to this machine.
    ///   - vault: The vault's id. Both have 16 bytes. Nil if the remote is not known yet: then only ``remotes()`` can be asked.
    ///   - keeper: Where the account's tokens are kept.
    ///   - known: The files that need not be read.
    ///   - memory: What an earlier value for this remote has left.
    ///   - program: The absolute path of the agent's program. Only this user and root may be able to change the program, or its
    ///     folder.
    ///   - time: How long a call may take, in milliseconds.
    ///   - interruption: Lets another thread end a call early.
    package init(
        at url: String, vault: [UInt8]?, incarnation: [UInt8]?, login keeper: any ServerLoginKeeper,
        knowing known: KnownFiles = KnownFiles(), remembering memory: Memory = Memory(), helper program: String,
        within time: Int = usualTime,
        interruption: Interruption? = nil
    ) {
        (self.url, self.vault, self.incarnation) = (url, vault ?? Self.noRemote, incarnation ?? Self.noRemote)
        self.keeper = keeper
        self.known = known
        self.known.add(memory.files)
        listing = memory.listing
        helper = RemoteHelper(program, "--server", within: time, unless: interruption)
    }

    /// What a later value for the same remote can use: the list that was read last, and the files in it that were read.
    package struct Memory: Sendable {
        package let listing: ServerListing?
        let files: KnownFiles

        package init() { (listing, files) = (nil, KnownFiles()) }

        fileprivate init(_ listing: ServerListing?, _ files: KnownFiles) { (self.listing, self.files) = (listing, files) }
    }

    /// The login that the last request had.
    package var login: ServerLogin? { used }

    package var memory: Memory {
        var files = KnownFiles()
        for digest in (listing?.entries ?? []).compactMap(\.digest) {
            if let bytes = known[digest] { files.add(bytes) }
        }
        return Memory(listing, files)
    }

    // MARK: - Requests

    package func files() throws(RemoteFailure) -> [RemoteFile] {
        if bootMilliseconds() - listed > Self.freshTime { _ = try list() }
        return [.founding] + present.keys
    }

    /// The list of files. If the server has no other one, that costs one short answer.
    ///
    /// - Parameter seconds: How long the server waits for another one, up to ``ServerHelperRequest/longestWait``.
    package func list(waiting seconds: UInt8 = 0) throws(RemoteFailure) -> ServerListing {
        let wanted = listing.map { ServerHelperRequest.ListChoice.other(than: $0.change, waiting: seconds) }
        switch try ask(.files(wanted ?? .any)) {
        case .files(let new):
            listing = new
        case .unchanged where listing != nil: break
        default: throw .helper(.misbehaved)
        }
        guard let listing else { throw .helper(.misbehaved) }
        listed = bootMilliseconds()
        present = Dictionary(listing.entries.map { ($0.file, $0.digest) }) { $1 }
        return listing
    }

    package func bytes(of file: RemoteFile) throws(RemoteFailure) -> [UInt8]? {
        if file == .founding, let founding = known.founding { return founding }
        let digest: [UInt8]? = if case .entry(_, let digest) = file { digest } else { present[file] ?? nil }
        if let digest, let bytes = known[digest] { return bytes }
        guard case .bytes(let bytes) = try ask(.bytes(file)) else { return nil }
        if digest != nil { known.add(bytes) }
        if file == .founding { known.founding = bytes }
        return bytes
    }

    /// - Throws: ``RemoteFailure/server(_:)`` with ``ServerRefusal/conflict`` for a head or a pack: another copy of this device's
    ///   file writes too.
    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(RemoteFailure) {
        precondition(bytes.count <= file.maximumCount, "a file has no more bytes than a reader takes")
        // A list of heads stays the same for many pushes.
        if case .heads = file, present[file] == PublicHash.hash(bytes) { return }
        _ = try ask(.write(bytes, file))
        switch file {
        case .head, .heads:
            known.add(bytes)
            present.updateValue(PublicHash.hash(bytes), forKey: file)
        default: present.updateValue(nil, forKey: file)
        }
    }

    /// - Returns: true. The server does not say whether there was one.
    @discardableResult
    package func remove(_ file: RemoteFile) throws(RemoteFailure) -> Bool {
        _ = try ask(.remove(file))
        present.removeValue(forKey: file)
        return true
    }

    /// Makes the remote with entry 0 of the roll.
    ///
    /// - Throws: ``RemoteFailure/storage(_:)`` with ``StorageError/exists`` if it is there already.
    package func make(founding: [UInt8]) throws(RemoteFailure) {
        do throws(RemoteFailure) { _ = try ask(.found(founding)) } catch {
            throw error == .server(.conflict) ? .storage(.exists) : error
        }
    }

    /// The remotes of the vault, or of the account if no vault was named.
    package func remotes() throws(RemoteFailure) -> [ServerHelperReply.RemoteName] {
        guard case .remotes(let names) = try ask(.remotes) else { throw .helper(.misbehaved) }
        return names
    }

    // MARK: - Logins

    /// Logs in with the account's password.
    ///
    /// - Parameters:
    ///   - trusted: The only trusted certificates, as PEM. Empty: those of the system.
    ///   - device: What the server calls this device.
    package static func logIn(
        at url: String, trusting trusted: [UInt8], _ user: String, password: consuming SecretBytes, device: String,
        helper program: String, within time: Int = usualTime
    ) throws(RemoteFailure) -> ServerLogin {
        let request = ServerHelperRequest.logIn(user: user, password: HeldSecret(password), device: device)
        let reply = try ask(request, at: url, trusting: trusted, helper: program, within: time)
        return try login(reply, user: user, trusted: trusted)
    }

    /// Ends a login at its server, so its tokens are good for nothing.
    package static func logOut(
        _ login: ServerLogin, at url: String, helper program: String, within time: Int = usualTime
    ) throws(RemoteFailure) {
        let request = ServerHelperRequest.logOut(HeldSecret(login.refresh.duplicate()))
        let reply = try ask(request, at: url, trusting: login.trusted, helper: program, within: time)
        if case .failed(let refusal) = reply { throw .server(refusal) }
    }

    /// Asks a helper of its own, of which no remote is known.
    private static func ask(
        _ request: ServerHelperRequest, at url: String, trusting trusted: [UInt8], helper program: String, within time: Int
    ) throws(RemoteFailure) -> ServerHelperReply {
        let helper = RemoteHelper(program, "--server", within: time, unless: nil)
        let opening = ServerHelperRequest.Opening(url: url, vault: noRemote, incarnation: noRemote, trusted: trusted)
        guard let opening else { throw .server(.online(.failed(.unsafeAddress))) }
        return try helper.call(
            opening: { call throws(RemoteFailure) in try Self.open(opening, call) },
            { call throws(RemoteFailure) in try Self.exchange(request, call) })
    }

    private static func login(_ reply: ServerHelperReply, user: String, trusted: [UInt8]) throws(RemoteFailure) -> ServerLogin {
        if case .failed(let refusal) = reply { throw .server(refusal) }
        guard case .tokens(let tokens) = reply else { throw .helper(.misbehaved) }
        let login = ServerLogin(
            refresh: tokens.refresh.duplicate(), access: tokens.access.duplicate(),
            expires: Int64(time(nil)) + Int64(tokens.lifetime), user: user, trusted: trusted)
        guard let login else { throw .server(.online(.failed(.unexpectedAnswer))) }
        return login
    }

    /// The login that is used now. An access token that is about to end is replaced first.
    private func currentLogin() throws(RemoteFailure) -> ServerLogin {
        let now = Int64(time(nil))
        if let used, used.isAlive(at: now) { return used }
        guard let kept = try read() else { throw .server(.loggedOut) }
        return kept.isAlive(at: now) ? kept : try refresh(after: kept)
    }

    private func read() throws(RemoteFailure) -> ServerLogin? {
        do throws(VaultError) { return try keeper.login() } catch { throw .vault(error) }
    }

    /// Replaces tokens that the server does not take any more, or that are about to end. The new ones are kept before one is used.
    private func refresh(after old: ServerLogin) throws(RemoteFailure) -> ServerLogin {
        let result: Result<ServerLogin, RemoteFailure>
        do throws(VaultError) {
            result = try keeper.refreshing { () -> Result<ServerLogin, RemoteFailure> in
                do throws(RemoteFailure) {
                    guard let kept = try read() else { throw .server(.loggedOut) }
                    // Another process of this device was faster.
                    if !kept.access.isEqual(to: old.access), kept.isAlive(at: Int64(time(nil))) { return .success(kept) }
                    let reply = try exchange(.refresh(HeldSecret(kept.refresh.duplicate())), as: nil)
                    let new = try Self.login(reply, user: kept.user, trusted: kept.trusted)
                    do throws(VaultError) { try keeper.keep(new) } catch { throw .vault(error) }
                    return .success(new)
                } catch { return .failure(error) }
            }
        } catch { throw .vault(error) }
        return try result.get()
    }

    // MARK: - The helper

    /// - Returns: Any answer but a refusal.
    private func ask(_ request: ServerHelperRequest) throws(RemoteFailure) -> ServerHelperReply {
        let login = try currentLogin()
        var reply = try exchange(request, as: login)
        // The server ended the token before its time, or this device's clock is wrong.
        if case .failed(.online(.rejected)) = reply {
            reply = try exchange(request, as: try refresh(after: login))
            if case .failed(.online(.rejected)) = reply { throw .server(.loggedOut) }
        }
        if case .failed(let refusal) = reply { throw .server(refusal) }
        return reply
    }

    /// - Parameter login: Whose token the request has. Nil for a request without one.
    private func exchange(_ request: ServerHelperRequest, as login: ServerLogin?) throws(RemoteFailure) -> ServerHelperReply {
        var trusted = login?.trusted
        if trusted == nil { trusted = try read()?.trusted }
        let opening = ServerHelperRequest.Opening(url: url, vault: vault, incarnation: incarnation, trusted: trusted ?? [])
        guard let opening else { throw .server(.online(.failed(.unsafeAddress))) }
        let reply = try helper.call(
            opening: { call throws(RemoteFailure) in
                used = nil
                try Self.open(opening, call)
            },
            { call throws(RemoteFailure) in
                if let login, used !== login {
                    _ = try Self.exchange(.use(HeldSecret(login.access.duplicate())), call)
                    used = login
                }
                return try Self.exchange(request, call)
            })
        return reply
    }

    private static func open(
        _ opening: ServerHelperRequest.Opening, _ call: borrowing HelperCall
    ) throws(RemoteFailure) {
        // The helper has an address that it does not use.
        if case .failed(let refusal) = try exchange(.open(opening), call) { throw .server(refusal) }
    }

    private static func exchange(
        _ request: ServerHelperRequest, _ call: borrowing HelperCall
    ) throws(RemoteFailure) -> ServerHelperReply {
        switch request.secretMessage {
        case .some(let message):
            let answer = try call.ask(secret: message, upTo: request.maximumReply)
            return try answer.withBytes { (bytes: Span<UInt8>) throws(RemoteFailure) in try reply(bytes, to: request) }
        case .none:
            let answer = try call.ask(request.encoded ?? [], upTo: request.maximumReply, isLong: request.waits)
            return try reply(answer.span, to: request)
        }
    }

    private static func reply(_ bytes: Span<UInt8>, to request: ServerHelperRequest) throws(RemoteFailure) -> ServerHelperReply {
        let reply: ServerHelperReply
        do throws(MalformedBytes) { reply = try ServerHelperReply(decoding: bytes, to: request) } catch {
            throw .helper(.misbehaved)
        }
        // Attack: a server answers any request with a conflict, and the device takes itself for a clone.
        if case .failed(.conflict) = reply, !request.canConflict { return .failed(.refused(status: 409)) }
        return reply
    }
}
