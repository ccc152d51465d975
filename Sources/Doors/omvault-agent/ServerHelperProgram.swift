// The server's helper's door: `omvault-agent --server`. It connects the helper's requests to the HTTP client of a remote.

internal import Glibc
internal import OMAgent
internal import OMOnline
internal import OMOnlineModel
internal import OMParcels
internal import OMSecrets

enum ServerHelperProgram {
    static func run() -> Never {
        guard AgentProcess.harden(hidesMemory: true) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        // If hidden memory has no room for a secret, the secret goes into other memory.
        signal(SIGXFSZ, SIG_IGN)
        ServerHelper.run(ports: { SyncServer.ports(of: $0.url) }) { opening throws(OnlineRefusal) in
            let server = try SyncServer(
                opening.url, vault: opening.vault, incarnation: opening.incarnation,
                trusting: opening.trusted.isEmpty ? nil : opening.trusted)
            return { request in
                do throws(ServerRefusal) { return try await reply(to: request, from: server, opening.vault) } catch {
                    return .failed(error)
                }
            }
        }
    }

    private static func reply(
        to request: ServerHelperRequest, from server: SyncServer, _ vault: [UInt8]
    ) async throws(ServerRefusal) -> ServerHelperReply {
        switch request {
        // The helper takes it itself.
        case .open: throw .refused(status: 0)
        case .files(.any): return try listing(await server.listing())
        case .files(.other(let change, let seconds)):
            return try listing(await server.listing(otherThan: change, waiting: seconds))
        case .bytes(let file): return try await server.bytes(of: file).map { .bytes($0) } ?? .none
        case .write(let bytes, let file): try await server.write(bytes, to: file)
        case .remove(let file): try await server.remove(file)
        case .found(let bytes): try await server.found(with: bytes)
        case .remotes: return .remotes(try await remotes(of: vault, server))
        case .use(let token): server.use(text(token.bytes))
        case .refresh(let token): return tokens(try await server.refresh(token.bytes))
        case .logIn(let user, let password, let device):
            return tokens(try await server.logIn(user, password: password.bytes, device: device))
        case .logOut(let token): try await server.logOut(token.bytes)
        }
        return .done
    }

    private static func listing(_ bytes: [UInt8]?) throws(ServerRefusal) -> ServerHelperReply {
        guard let bytes else { return .unchanged }
        guard let listing = try? ServerListing(decoding: bytes) else { throw unusable }
        return .files(listing)
    }

    private static var unusable: ServerRefusal { .online(.failed(.unexpectedAnswer, status: 200)) }

    private static func remotes(
        of vault: [UInt8], _ server: SyncServer
    ) async throws(ServerRefusal) -> [ServerHelperReply.RemoteName] {
        let known = vault.contains { $0 != 0 } ? vault : []
        let bytes = try await server.remotes()
        // number (2) ‖ per remote: vault (16), if none was named ‖ incarnation (16)
        let (size, rest) = (32 - known.count, bytes.dropFirst(2))
        guard bytes.count >= 2, rest.count == size * (Int(bytes[0]) << 8 | Int(bytes[1])) else { throw unusable }
        return stride(from: rest.startIndex, to: rest.endIndex, by: size).map { start in
            let name = known + rest[start..<start + size]
            return ServerHelperReply.RemoteName(vault: Array(name[..<16]), incarnation: Array(name[16...]))
        }
    }

    private static func tokens(_ tokens: SyncServer.Tokens) -> ServerHelperReply {
        .tokens(
            ServerHelperReply.Tokens(
                access: SecretBytes(copying: Array(tokens.access.utf8)),
                refresh: SecretBytes(copying: Array(tokens.refresh.utf8)),
                lifetime: tokens.lifetime))
    }

    private static func text(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}
