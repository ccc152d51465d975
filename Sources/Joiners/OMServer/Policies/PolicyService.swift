#if Server
// The application profiles and the server's own description. docs/formats/server-protocol.md, "Policies".

internal import OMJSON
package import OMServerStore

package struct PolicyService: ServerService {
    private let store: any ServerStore
    private let issuer: String

    package init(_ store: any ServerStore, issuer: String) { (self.store, self.issuer) = (store, issuer) }

    package func routes(_ path: [String]) -> [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse] {
        switch path {
        case [".well-known", "omvault"]: [.get: { _ in discovery }]
        case _ where path.count == 3 && path[0] == "v1" && path[1] == "profiles": [.get: { try profile($0, of: path[2]) }]
        default: [:]
        }
    }

    private var discovery: ServerResponse {
        ServerResponse(
            json: .object([
                "issuer": .string(issuer), "profiles": .string("\(issuer)/v1/profiles"), "sync": .string("\(issuer)/v1/sync"),
                "sdk": .string("\(issuer)/oic_rest/rest"),
            ]))
    }

    private func profile(_ request: ServerRequest, of application: String) throws -> ServerResponse {
        guard PolicyKey.isApplication(application) else { throw ServerProblem.notFound }
        // An application without a policy has one that demands nothing, so that a later one reaches its clients.
        let policy =
            try store.transaction(.read) { try PolicyTable.find(application, $0) }
            ?? Policy(application: application, epoch: 0, values: [:])
        let tag = "\"\(policy.epoch)\""
        if request.headers["if-none-match"] == tag { return ServerResponse(304, ["etag": tag]) }
        var members: [String: JSON] = [
            "epoch": .number(String(policy.epoch)), "ApplicationName": .string(policy.application),
        ]
        for (name, value) in policy.values { members[name] = .string(value) }
        var response = ServerResponse(json: .object(members))
        response.headers["etag"] = tag
        return response
    }
}
#endif
