#if Server
// The sender of a request, by its access token.

package import OMServerStore

package enum Bearer {
    /// The grant whose access token the request has.
    ///
    /// Call it in the transaction that does the request's work: a token that ends meanwhile does nothing.
    ///
    /// - Throws: ``ServerProblem/unauthorized(_:)``, ``ServerProblem/forbidden``; ``StoreError``.
    package static func grant(
        of request: ServerRequest, _ scope: Scope, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Grant {
        let digest = try digest(of: request)
        return try check(GrantTable.token(digest, transaction), scope, now: now)
    }

    /// - Parameter token: What the store has for the request's token.
    static func check(_ token: Token?, _ scope: Scope, now: Int64) throws(ServerProblem) -> Grant {
        guard let token, token.kind == .access, token.expires > now else {
            throw ServerProblem.unauthorized("Bearer error=\"invalid_token\"")
        }
        guard token.grant.scopes.contains(scope) else { throw ServerProblem.forbidden }
        return token.grant
    }

    /// The token's digest. The token itself is a text here, and in ordinary memory: the HTTP library gives headers as texts.
    static func digest(of request: ServerRequest) throws(ServerProblem) -> [UInt8] {
        guard let header = request.headers["authorization"] else { throw .unauthorized() }
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .unauthorized() }
        return TokenText.digest(String(parts[1]))
    }
}
#endif
