#if Server
// From a request of the HTTP library to the services, and back.

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import OMJSON
internal import OMServer

/// A request with its connection.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Answers requests on a fixed number of threads.
final class ServerResponder: HTTPResponder {
    static let longestPath = 1024
    static let longestQuery = 8 << 10

    private let routes: ServerRoutes
    private let threads: RequestThreads
    /// The memory of large bodies of requests, until they are answered.
    private let bodies = BodyMemory()
    /// The memory of large answers, until clients have read them.
    private let answers = BodyMemory()
    private let polls: LongPolls

    init(_ routes: ServerRoutes, threads: RequestThreads, polls: LongPolls) {
        (self.routes, self.threads, self.polls) = (routes, threads, polls)
    }

    func respond(to request: Request, context: ServerContext) async throws -> Response {
        let began = ContinuousClock.now
        let client = context.channel.remoteAddress?.ipAddress ?? ""
        let parsed = Result { () throws(ServerProblem) in try RequestParts(request) }
        var answer: ServerResponse
        switch parsed {
        case .failure(let problem): answer = problem.response
        case .success(let parts):
            do { answer = try await self.answer(parts, request, from: client, on: context.channel) } catch let problem
                as ServerProblem
            {
                answer = problem.response
            }
        }
        let reservation = answers.reserve(answer.isLarge ? answer.body.count : 0, for: client)
        if reservation == nil { answer = ServerProblem.busy().response }
        if answer.headers["connection"] == "close" {
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
        return Response(answer, reservation, on: context.channel)
    }

    private func answer(
        _ parts: RequestParts, _ request: Request, from client: String, on channel: any Channel
    ) async throws -> ServerResponse {
        let limit = parts.method == .put ? routes.bodyLimit(parts.path) : ServerRoutes.usualBodyLimit
        let length = request.headers[.contentLength].flatMap { Int($0) }
        // Refused by its head: nobody waits for a body that is not taken.
        if let length, length > limit { return Self.withoutBody(ServerProblem.tooLarge.response) }
        var asked = ServerRequest(
            parts.method, path: parts.path, query: parts.query, headers: parts.headers, client: client)
        let isLarge = (length ?? limit) > ServerRoutes.usualBodyLimit
        // Attack: many connections send large bodies, which fill the memory before anyone has looked at a token.
        if isLarge, let refusal = try await threads.reading.run({ [routes, asked] in routes.refusal(asked) }) {
            return Self.withoutBody(refusal)
        }
        guard let reservation = bodies.reserve(isLarge ? length ?? limit : 0, for: client) else {
            return Self.withoutBody(ServerProblem.busy().response)
        }
        defer { withExtendedLifetime(reservation) {} }
        do { asked.body = Array(buffer: try await request.body.collect(upTo: limit)) } catch is NIOTooManyBytesError {
            return Self.withoutBody(ServerProblem.tooLarge.response)
        }
        let threads = threads.threads(for: parts.method)
        var answer = try await threads.run { [routes, asked] in routes.answer(asked) }
        if let wait = answer.wait, try await polls.changed(wait, until: channel.closeFuture) {
            answer = try await threads.run { [routes, asked] in routes.answer(asked) }
        }
        answer.wait = nil
        return answer
    }

    /// An answer to a request whose body is not read: it ends the connection.
    private static func withoutBody(_ response: ServerResponse) -> ServerResponse {
        var response = response
        response.headers["connection"] = "close"
        return response
    }
}

extension ServerResponse {
    fileprivate var isLarge: Bool { body.count > ServerRoutes.usualBodyLimit }
}

extension Response {
    /// - Parameter reservation: Ends when the client has read the answer, but for what the system's buffers hold.
    fileprivate init(_ answer: ServerResponse, _ reservation: BodyReservation?, on channel: any Channel) {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers[name] = value
        }
        headers[.cacheControl] = "no-store"
        headers[.xContentTypeOptions] = "nosniff"
        let bytes = ByteBuffer(bytes: answer.body)
        // Attack: many clients ask for large files and read none of them, which fills the memory.
        let body =
            answer.isLarge
            ? ResponseBody(contentLength: bytes.readableBytes) { writer in
                try await writer.write(bytes)
                // After this turn of the loop the channel knows whether the client reads. If it does not, `finish` waits for it.
                try await channel.eventLoop.submit {}.get()
                try await writer.finish(nil)
                withExtendedLifetime(reservation) {}
            } : ResponseBody(byteBuffer: bytes)
        self.init(status: .init(code: answer.status), headers: headers, body: body)
    }
}
#endif
