// The agent's looks at servers: one short request each, without a key of the vault.

internal import Glibc
internal import OMAgent
internal import OMItems
internal import OMOnlineModel
internal import OMParcels
internal import OMSecrets
internal import OMSystem
internal import OMVault
internal import Synchronization

/// What the agent remembers of servers between two looks: the list of files that it saw last, the heads in it that it read, and the
/// access token of the last exchange. The token ends soon, and opens nothing of a vault. A refresh needs the vault, so an exchange
/// does it.
final class ServerLooks: Sendable {
    private struct Memory {
        var login: ServerLogin?
        var server = ConfinedServer.Memory()
    }

    private struct Key: Hashable {
        let vault: [UInt8]
        let incarnation: [UInt8]
        /// Attack: the remote moved to another server, which then gets the token of the first one.
        let address: String
    }

    private let memories = Mutex<[Key: Memory]>([:])

    /// Remembers an exchange.
    func note(_ server: ConfinedServer, of remote: RemoteDetails) {
        // Attack: the memory of the agent of a locked vault is read. A refresh token in it is good for months.
        let memory = Memory(login: server.login?.withoutRefresh, server: server.memory)
        memories.withLock { $0[Self.key(remote)] = memory }
    }

    /// What the next exchange need not read again.
    func memory(of remote: RemoteDetails) -> ConfinedServer.Memory {
        memories.withLock { $0[Self.key(remote)]?.server } ?? ConfinedServer.Memory()
    }

    /// - Parameter seconds: How long the server waits for a change.
    /// - Returns: Another value each time while there is no token that the server takes: then an exchange is due.
    func trace(
        of remote: RemoteDetails, waiting seconds: UInt8, unless interruption: Interruption
    ) throws(RemoteFailure) -> [UInt8] {
        let memory = memories.withLock { $0[Self.key(remote)] }
        guard let memory, let login = memory.login, login.isAlive(at: Int64(time(nil))) else { return Random.bytes(32) }
        let server = ConfinedServer(
            at: remote.path, vault: remote.vault, incarnation: remote.incarnation, login: LookLogin(login),
            remembering: memory.server, helper: AgentProcess.ownProgram,
            // A silent server keeps the looks at other remotes waiting only a little longer than it was asked to wait.
            within: seconds == 0 ? ConfinedServer.usualTime : 1000 * (Int(seconds) + 15), interruption: interruption)
        do throws(RemoteFailure) {
            let listing = try server.list(waiting: seconds)
            memories.withLock { $0[Self.key(remote)]?.server = server.memory }
            var trace = RemoteTrace(of: remote)
            for entry in listing.entries { trace.add(entry.file, digest: entry.digest) }
            return trace.digest
        } catch {
            guard error == .server(.loggedOut) else { throw error }
            memories.withLock { $0[Self.key(remote)]?.login = nil }
            return Random.bytes(32)
        }
    }

    private static func key(_ remote: RemoteDetails) -> Key {
        Key(vault: remote.vault, incarnation: remote.incarnation, address: remote.path)
    }
}

/// A login that cannot be refreshed here.
private final class LookLogin: ServerLoginKeeper {
    private let held: ServerLogin
    private var isRefreshed = false

    init(_ login: ServerLogin) { held = login }

    func login() -> ServerLogin? { isRefreshed ? nil : held }

    func keep(_ login: ServerLogin) {}

    func refreshing<R>(_ body: () -> R) -> R {
        isRefreshed = true
        return body()
    }
}
