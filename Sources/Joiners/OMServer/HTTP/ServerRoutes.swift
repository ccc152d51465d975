#if Server
// From a request's path and method to the service that answers it.

internal import OMServerStore

/// A part of the server with its own paths.
package protocol ServerService: Sendable {
    /// - Returns: The methods of this path with what answers them. Empty if the path is not this service's.
    func routes(_ path: [String]) -> [ServerRequest.Method: @Sendable (ServerRequest) throws -> ServerResponse]

    /// The most bytes that the body of a request for this path may have. Nil if the path is not this service's.
    func bodyLimit(_ path: [String]) -> Int?

    /// Checks who asks, before a large body is read.
    ///
    /// - Throws: ``ServerProblem``, ``StoreError``.
    func checkBeforeBody(_ request: ServerRequest) throws
}

extension ServerService {
    package func bodyLimit(_ path: [String]) -> Int? { nil }
    package func checkBeforeBody(_ request: ServerRequest) throws {}
}

/// All services of a server. An answer blocks its thread: the store and password hashes do.
package struct ServerRoutes: Sendable {
    private let services: [any ServerService]
    private let note: @Sendable (any Error) -> Void

    /// - Parameter note: Gets errors that no client caused. They hold no secret.
    package init(_ services: [any ServerService], note: @escaping @Sendable (any Error) -> Void) {
        (self.services, self.note) = (services, note)
    }

    /// The limit of bodies that no service has another one for.
    package static let usualBodyLimit = 64 << 10

    package func bodyLimit(_ path: [String]) -> Int {
        services.lazy.compactMap { $0.bodyLimit(path) }.first ?? Self.usualBodyLimit
    }

    /// Checks the head of a request whose body can be large.
    ///
    /// - Returns: The answer that refuses the request. Nil if its body may be read.
    package func refusal(_ request: ServerRequest) -> ServerResponse? {
        var refusal: ServerResponse?
        for service in services where service.bodyLimit(request.path) != nil {
            refusal =
                refusal
                ?? answer(request) {
                    try service.checkBeforeBody($0); return nil
                }
        }
        return refusal
    }

    package func answer(_ request: ServerRequest) -> ServerResponse {
        answer(request) { try find($0)($0) } ?? ServerProblem.failed.response
    }

    private func answer(
        _ request: ServerRequest, _ body: (ServerRequest) throws -> ServerResponse?
    ) -> ServerResponse? {
        do { return try body(request) } catch let problem as ServerProblem {
            return problem.response
        } catch let error as StoreError {
            note(error)
            return ServerProblem(error).response
        } catch {
            note(error)
            return ServerProblem.failed.response
        }
    }

    private func find(_ request: ServerRequest) throws(ServerProblem) -> @Sendable (ServerRequest) throws -> ServerResponse {
        for service in services {
            let methods = service.routes(request.path)
            guard !methods.isEmpty else { continue }
            if let found = methods[request.method] { return found }
            throw .notAllowed(Array(methods.keys))
        }
        throw .notFound
    }
}
#endif
