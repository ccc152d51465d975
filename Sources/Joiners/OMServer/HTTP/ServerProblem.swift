#if Server
// An answer that refuses a request: RFC 9457. docs/formats/server-protocol.md, "Errors".

internal import OMJSON
internal import OMServerStore

/// A service throws it, and the routes make an answer of it.
package struct ServerProblem: Error, Hashable, Sendable {
    /// The last part of `urn:omvault:NAME`.
    package enum Name: String, Sendable {
        case malformed, unauthorized, forbidden, conflict, refused, quota, unsupported, busy
        case notFound = "not-found"
        case notAllowed = "not-allowed"
        case tooLarge = "too-large"
        case tooMany = "too-many-requests"
        case notReachable = "store-unreachable"
        case failed = "internal"
    }

    package let status: Int
    package let name: Name
    package var headers: [String: String] = [:]

    private init(_ status: Int, _ name: Name, _ headers: [String: String] = [:]) {
        (self.status, self.name, self.headers) = (status, name, headers)
    }

    package static let malformed = ServerProblem(400, .malformed)
    package static let forbidden = ServerProblem(403, .forbidden)
    package static let notFound = ServerProblem(404, .notFound)
    package static let conflict = ServerProblem(409, .conflict)
    package static let tooLarge = ServerProblem(413, .tooLarge)
    package static let unsupported = ServerProblem(415, .unsupported)
    package static let refused = ServerProblem(422, .refused)
    package static let quota = ServerProblem(507, .quota)
    package static let failed = ServerProblem(500, .failed)

    /// No token, or one that is not valid any more.
    package static func unauthorized(_ challenge: String = "Bearer") -> ServerProblem {
        ServerProblem(401, .unauthorized, ["www-authenticate": challenge])
    }

    package static func notAllowed(_ methods: [ServerRequest.Method]) -> ServerProblem {
        ServerProblem(405, .notAllowed, ["allow": methods.map(\.rawValue).sorted().joined(separator: ", ")])
    }

    /// - Parameter seconds: When the client may come again.
    package static func tooMany(retryAfter seconds: Int) -> ServerProblem {
        ServerProblem(429, .tooMany, ["retry-after": String(seconds)])
    }

    package static func busy(retryAfter seconds: Int = 1) -> ServerProblem {
        ServerProblem(503, .busy, ["retry-after": String(seconds)])
    }

    /// What an error of the store means to a client.
    init(_ error: StoreError) {
        self =
            switch error {
            case .busy: .busy()
            case .unreachable: ServerProblem(503, .notReachable, ["retry-after": "2"])
            case .missing, .exists, .damaged, .otherVersion, .refused, .io: .failed
            }
    }

    package var response: ServerResponse {
        let body = JSON.object(["type": .string("urn:omvault:\(name.rawValue)"), "status": .number(String(status))])
        return ServerResponse(
            status, headers.merging(["content-type": "application/problem+json"]) { $1 }, body: Array(body.serialized.utf8))
    }
}
#endif
