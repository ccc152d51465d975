import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

/// Long enough for any machine. A test must not fail because of a time that it does not measure.
let patient = OnlineDeadlines(connect: 60_000, total: 60_000)

func basic(
    _ login: String, logout: String? = nil, tokens: [String] = [], domain: OnlineService.Domain? = nil,
    headers: [OnlineService.Header] = [], trusted: [UInt8]? = nil, profile: String? = nil,
    deadlines: OnlineDeadlines = patient
) -> HTTPBasicProvider {
    let kind = BasicService(login: login, logout: logout, requiredTokens: tokens)
    let service = OnlineService(
        .basic(kind), domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines)
    return HTTPBasicProvider(service, kind)
}

func oauth(
    _ endpoint: OAuthService.Endpoint, client: String = "native", scopes: [String] = [], header: Bool = false,
    domain: OnlineService.Domain? = nil, trusted: [UInt8]? = nil, deadlines: OnlineDeadlines = patient
) -> OAuthProvider {
    let kind = OAuthService(endpoint, clientID: client, scopes: scopes, includesClientHeader: header)
    return OAuthProvider(OnlineService(.oauth(kind), domain: domain, trusted: trusted, deadlines: deadlines), kind)
}

func bytes(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

/// The reason for a refusal. Nil when the server accepted.
func refusal(_ body: () async throws(OnlineRefusal) -> OnlineGrant) async -> OnlineRefusal? {
    do throws(OnlineRefusal) {
        _ = try await body()
        return nil
    } catch { return error }
}

extension HTTPBasicProvider {
    func refusal(_ user: String = "alice", _ password: String = "correct horse 42") async -> OnlineRefusal? {
        let password = bytes(password)
        do throws(OnlineRefusal) {
            _ = try await logIn(user, password: password)
            return nil
        } catch { return error }
    }

    /// The session of an accepted login.
    func session(_ user: String = "alice", _ password: String = "correct horse 42") async throws -> SecretBytes {
        let password = bytes(password)
        return try await logIn(user, password: password).newSession()
    }
}

extension OAuthProvider {
    func refusal(
        _ user: String = "alice", _ password: String = "correct horse 42", secret: String = ""
    ) async -> OnlineRefusal? {
        let password = bytes(password)
        let secret = bytes(secret)
        do throws(OnlineRefusal) {
            _ = try await logIn(user, password: password, clientSecret: secret)
            return nil
        } catch { return error }
    }

    func session(
        _ user: String = "alice", _ password: String = "correct horse 42", secret: String = ""
    ) async throws -> SecretBytes {
        let password = bytes(password)
        let secret = bytes(secret)
        return try await logIn(user, password: password, clientSecret: secret).newSession()
    }
}

struct NoSession: Error {}

extension OnlineGrant {
    consuming func newSession() throws -> SecretBytes {
        guard let session = takeSession() else { throw NoSession() }
        return session
    }

    consuming func hasSession() -> Bool {
        switch takeSession() {
        case .some: true
        case .none: false
        }
    }
}

extension SecretBytes {
    borrowing func tokens() throws -> ServerSession.Tokens {
        guard case .tokens(let tokens) = try ServerSession(self) else { throw NoSession() }
        return tokens
    }

    borrowing func cookies() throws -> CookieJar {
        guard case .cookies(let jar) = try ServerSession(self) else { throw NoSession() }
        return jar
    }
}
