#if Server
// Whether the server can work: GET /healthz.

package import OMServerStore

package struct HealthService: ServerService {
    private let store: any ServerStore

    package init(_ store: any ServerStore) { self.store = store }

    package func routes(_ path: [String]) -> [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse] {
        guard path == ["healthz"] else { return [:] }
        return [
            .get: { _ in
                _ = try store.transaction(.read) { try $0.row("SELECT 1") }
                return ServerResponse(200, ["content-type": "text/plain"], body: Array("ok\n".utf8))
            }
        ]
    }
}
#endif
