#if Server
// From a request of the HTTP library to the services, and back.

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import OMJSON
internal import OMServer
internal import Synchronization

/// A request with its connection.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Answers requests on a fixed number of threads, since the store and password hashes block.
final class ServerResponder: HTTPResponder {
    static let longestPath = 1024
    static let longestQuery = 8 << 10
    /// How many requests may wait for a thread.
    static let mostWaiting = 256

    private let routes: ServerRoutes
    private let threads: NIOThreadPool
    private let most: Int
    private let running = Mutex(0)
    private let polls: LongPolls

    init(_ routes: ServerRoutes, threads: NIOThreadPool, count: Int, polls: LongPolls) {
        (self.routes, self.threads, self.polls) = (routes, threads, polls)
        most = count + Self.mostWaiting
    }

    func respond(to request: Request, context: ServerContext) async throws -> Response {
        let began = ContinuousClock.now
        let client = context.channel.remoteAddress?.ipAddress ?? ""
        let parsed = Result { () throws(ServerProblem) in try RequestParts(request) }
        var answer: ServerResponse
        switch parsed {
        case .failure(let problem): answer = problem.response
        case .success(let parts):
            do { answer = try await self.answer(parts, request, client) } catch let problem as ServerProblem {
                answer = problem.response
            }
        }
        if answer.status == 413 || answer.status == 414 || answer.status == 431 {
            // The rest of the body is not read.
            answer.headers["connection"] = "close"
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: .milliseconds(500)) { channel.close(promise: nil) }
        }
        let time = began.duration(to: .now)
        ServerLog.write(
            "request",
            [
                "method": .string(String(request.method.rawValue.prefix(16))), "status": .number(String(answer.status)),
                "route": .string(ServerLog.route((try? parsed.get())?.path ?? [])), "client": .string(client),
                "ms": .number(String(Int(time / .milliseconds(1)))),
            ])
        return Response(answer)
    }

    private func answer(_ parts: RequestParts, _ request: Request, _ client: String) async throws -> ServerResponse {
        let limit = routes.bodyLimit(parts.path)
        // Refused by its head: nobody waits for a body that is not taken.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw ServerProblem.tooLarge }
        let body: [UInt8]
        do { body = Array(buffer: try await request.body.collect(upTo: limit)) } catch is NIOTooManyBytesError {
            throw ServerProblem.tooLarge
        }
        let asked = ServerRequest(
            parts.method, path: parts.path, query: parts.query, headers: parts.headers, body: body, client: client)
        var answer = try await work(asked)
        if let wait = answer.wait, try await polls.changed(wait) { answer = try await work(asked) }
        answer.wait = nil
        return answer
    }

    /// Runs a service on one of the threads.
    private func work(_ request: ServerRequest) async throws -> ServerResponse {
        let most = most
        guard
            running.withLock({ running in
                guard running < most else { return false }
                running += 1
                return true
            })
        else { throw ServerProblem.busy() }
        defer { running.withLock { $0 -= 1 } }
        let routes = routes
        return try await threads.runIfActive { routes.answer(request) }
    }
}

extension Response {
    init(_ answer: ServerResponse) {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers[name] = value
        }
        headers[.cacheControl] = "no-store"
        headers[.xContentTypeOptions] = "nosniff"
        self.init(
            status: .init(code: answer.status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
#endif
