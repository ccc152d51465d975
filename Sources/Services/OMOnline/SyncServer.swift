// A remote on a server, over HTTP. Format: docs/formats/sync.md, "Over HTTP".

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import OMOnlineModel
package import OMParcels
package import OMSecrets
internal import Synchronization

/// The files of one remote on a server, or of an account whose remote is not known yet.
///
/// It keeps one connection open. A request that finds this connection closed is sent once more: each of them changes nothing the
/// second time.
package final class SyncServer: Sendable {
    /// The tokens of an account.
    package struct Tokens: Sendable {
        package let access: String
        package let refresh: String
        /// In seconds.
        package let lifetime: UInt32
    }

    /// The body of every answer that is no error.
    static let contentType = "application/vnd.omvault.sync"
    static let clientID = "omvault"
    static let scope = "sync"
    private static let connectTime: UInt32 = 10_000
    /// A slow line needs it for a pack.
    private static let requestTime: UInt32 = 50_000
    private static let maximumError = 64 << 10
    private static let maximumRemotes = 1000

    private let base: String
    private let vault: [UInt8]
    private let incarnation: [UInt8]
    private let exchange: HTTPExchange
    private let login: HTTPExchange
    private let state = Mutex(State())

    private struct State: Sendable {
        var token = ""
        var isConnected = false
    }

    /// - Parameters:
    ///   - base: `https://HOST[:PORT][/PATH]`, or http to this machine.
    ///   - vault: The vault's id. Both have 16 bytes. Zeros if the remote is not known yet.
    ///   - trusted: The only trusted certificates, as PEM. Nil for those of the system.
    package init(_ base: String, vault: [UInt8], incarnation: [UInt8], trusting trusted: [UInt8]?) throws(OnlineRefusal) {
        let address = try EndpointURL(base)
        guard !address.text.contains("?") else { throw .failed(.unsafeAddress) }
        self.base = address.text.hasSuffix("/") ? String(address.text.dropLast()) : address.text
        (self.vault, self.incarnation) = (vault, incarnation)
        exchange = try HTTPExchange(
            trusting: trusted, connectingWithin: Self.connectTime, total: nil, keepsConnection: true)
        login = try HTTPExchange(trusting: trusted, connectingWithin: Self.connectTime, total: nil)
    }

    /// The ports of an address. Empty if it is none that may be used.
    package static func ports(of base: String) -> Set<UInt16> {
        EndpointURL(reading: base).map { [UInt16($0.port)] } ?? []
    }

    /// The access token of all later requests.
    package func use(_ token: String) { state.withLock { $0.token = token } }

    // MARK: - Files

    /// The bytes of the list of files.
    package func listing() async throws(ServerRefusal) -> [UInt8] {
        let answer = try await send(.GET, "\(folder)/files", limit: ServerListing.maximumCount)
        guard answer.status == 200 else { throw Self.refusal(answer) }
        return try Self.content(answer)
    }

    /// The bytes of a list with another change.
    ///
    /// - Parameter seconds: How long the server waits for one.
    /// - Returns: nil if there is none.
    package func listing(otherThan change: UInt64, waiting seconds: UInt8) async throws(ServerRefusal) -> [UInt8]? {
        let answer = try await send(
            .GET, "\(folder)/files" + (seconds > 0 ? "?wait=\(seconds)" : ""), [("If-None-Match", "\"\(change)\"")],
            limit: ServerListing.maximumCount, within: Self.requestTime + 1000 * UInt32(seconds))
        switch answer.status {
        case 200: return try Self.content(answer)
        case 304: return nil
        default: throw Self.refusal(answer)
        }
    }

    package func bytes(of file: RemoteFile) async throws(ServerRefusal) -> [UInt8]? {
        let answer = try await send(.GET, "\(folder)/\(file.path)", limit: file.maximumCount)
        switch answer.status {
        case 200: return try Self.content(answer)
        case 404: return nil
        default: throw Self.refusal(answer)
        }
    }

    package func write(_ bytes: [UInt8], to file: RemoteFile) async throws(ServerRefusal) {
        let answer = try await send(.PUT, "\(folder)/\(file.path)", body: bytes, limit: 0)
        guard answer.status == 204 else { throw Self.refusal(answer) }
    }

    package func remove(_ file: RemoteFile) async throws(ServerRefusal) {
        let answer = try await send(.DELETE, "\(folder)/\(file.path)", limit: 0)
        guard answer.status == 204 else { throw Self.refusal(answer) }
    }

    /// Makes the remote with entry 0 of the roll.
    package func found(with founding: [UInt8]) async throws(ServerRefusal) {
        let answer = try await send(.PUT, "\(folder)/\(RemoteFile.founding.path)", body: founding, limit: 0)
        // 204: an answer got lost, and this is the second try.
        guard answer.status == 201 || answer.status == 204 else { throw Self.refusal(answer) }
    }

    /// The bytes of the list of remotes: of the vault, or of the account if no vault was named.
    package func remotes() async throws(ServerRefusal) -> [UInt8] {
        let isKnown = vault.contains { $0 != 0 }
        let answer = try await send(
            .GET, "/v1/sync/\(isKnown ? Hex.encode(vault) : "remotes")",
            limit: 2 + Self.maximumRemotes * (isKnown ? 16 : 32))
        guard answer.status == 200 else { throw Self.refusal(answer) }
        return try Self.content(answer)
    }

    // MARK: - Tokens

    /// - Parameter device: What the server calls this device in its list of logins.
    package func logIn(
        _ user: String, password: borrowing SecretBytes, device: String
    ) async throws(ServerRefusal) -> Tokens {
        var form = FormBody()
        form.add("grant_type", "password")
        form.add("username", user)
        form.add("password", password)
        form.add("scope", Self.scope)
        form.add("device", device)
        return try await tokens(form, sendsPassword: true)
    }

    package func refresh(_ token: borrowing SecretBytes) async throws(ServerRefusal) -> Tokens {
        var form = FormBody()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", token)
        do throws(ServerRefusal) { return try await tokens(form, sendsPassword: false) } catch {
            guard case .online(let refusal) = error, refusal.endsSession else { throw error }
            throw .loggedOut
        }
    }

    /// Ends a login: RFC 7009.
    package func logOut(_ refresh: borrowing SecretBytes) async throws(ServerRefusal) {
        var form = FormBody()
        form.add("token", refresh)
        form.add("token_type_hint", "refresh_token")
        do throws(OnlineRefusal) {
            let answer = try await post(form, to: "revoke")
            guard answer.status == 200 else { throw HTTPExchange.refusal(answer) }
        } catch { throw .online(error) }
    }

    private func post(_ form: consuming FormBody, to endpoint: String) async throws(OnlineRefusal) -> HTTPResponse {
        var form = form
        form.add("client_id", Self.clientID)
        var request = HTTPClientRequest(url: "\(base)/oauth2/\(endpoint)")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "Accept", value: "application/json")
        request.body = .bytes(form.finish())
        return try await login.fetch(request, limit: Self.maximumError, readsErrors: true, timeLimit: Self.requestTime)
    }

    private func tokens(_ form: consuming FormBody, sendsPassword: Bool) async throws(ServerRefusal) -> Tokens {
        do throws(OnlineRefusal) {
            let answer = try await post(form, to: "token")
            let said = try TokenResponse(answer, sendsPassword: sendsPassword)
            // Without a refresh token the password would be asked for every few minutes.
            guard let refresh = said.refresh else { throw .failed(.unexpectedAnswer, status: UInt16(answer.status)) }
            let longest = max(said.access.utf8.count, refresh.utf8.count)
            guard longest <= ServerLogin.maximumToken else { throw .failed(.answerTooLarge) }
            return Tokens(access: said.access, refresh: refresh, lifetime: said.lifetime)
        } catch { throw .online(error) }
    }

    // MARK: - Requests

    private var folder: String { "/v1/sync/\(Hex.encode(vault))-\(Hex.encode(incarnation))" }

    /// - Parameter limit: The most bytes of an answer that is no error.
    private func send(
        _ method: HTTPMethod, _ path: String, _ headers: [(String, String)] = [], body: [UInt8]? = nil, limit: Int,
        within time: UInt32 = requestTime
    ) async throws(ServerRefusal) -> HTTPResponse {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        let (token, isConnected) = state.withLock { ($0.token, $0.isConnected) }
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: Self.contentType)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        do throws(OnlineRefusal) {
            return try await fetch(request, limit, time)
        } catch {
            // The server closed the connection that was kept.
            guard isConnected, error == .failed(.brokenAnswer) || error == .unreachable(.closed) else { throw .online(error) }
            do throws(OnlineRefusal) { return try await fetch(request, limit, time) } catch { throw .online(error) }
        }
    }

    private func fetch(_ request: HTTPClientRequest, _ limit: Int, _ time: UInt32) async throws(OnlineRefusal) -> HTTPResponse {
        state.withLock { $0.isConnected = false }
        let answer = try await exchange.fetch(
            request, limit: max(limit, Self.maximumError), readsErrors: true, timeLimit: time)
        state.withLock { $0.isConnected = true }
        guard !answer.isSuccess || answer.body.count <= limit else { throw .failed(.answerTooLarge) }
        return answer
    }

    /// Attack, or accident: a page of another server on the way, such as that of a hotel, has status 200 too.
    private static func content(_ answer: HTTPResponse) throws(ServerRefusal) -> [UInt8] {
        guard answer.headers.first(name: "Content-Type") == contentType else {
            throw .online(.failed(.unexpectedAnswer, status: UInt16(clamping: answer.status)))
        }
        return answer.body
    }

    private static func refusal(_ answer: HTTPResponse) -> ServerRefusal {
        let status = UInt16(clamping: answer.status)
        switch answer.status {
        case 404: return .missing
        case 409: return .conflict
        case 507: return .full
        case 408: return .online(.unreachable(.timedOut))
        case 400..<500 where ![401, 403, 423, 429].contains(answer.status): return .refused(status: status)
        default: return .online(HTTPExchange.refusal(answer))
        }
    }
}
