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
        guard let digest = digest(of: request) else { throw ServerProblem.unauthorized() }
        guard let token = try GrantTable.token(digest, transaction), token.kind == .access, token.expires > now else {
            throw ServerProblem.unauthorized("Bearer error=\"invalid_token\"")
        }
        guard token.grant.scopes.contains(scope) else { throw ServerProblem.forbidden }
        return token.grant
    }

    /// The token's digest. The token itself is a text here, and in ordinary memory: the HTTP library gives headers as texts.
    private static func digest(of request: ServerRequest) -> [UInt8]? {
        guard let header = request.headers["authorization"] else { return nil }
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return TokenText.digest(String(parts[1]))
    }
}
#endif
