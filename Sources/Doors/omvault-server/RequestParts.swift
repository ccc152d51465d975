#if Server
// The head of a request, checked and decoded.

internal import HTTPTypes
internal import Hummingbird
internal import OMServer

struct RequestParts {
    let method: ServerRequest.Method
    let path: [String]
    let query: [(name: String, value: String)]
    let headers: [String: String]

    init(_ request: Request) throws(ServerProblem) {
        guard let method = ServerRequest.Method(rawValue: request.method.rawValue) else {
            throw .notAllowed([.get, .put, .post, .delete])
        }
        self.method = method
        let target = request.head.path ?? ""
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? parts[1] : ""
        guard target.hasPrefix("/"), parts[0].utf8.count <= ServerResponder.longestPath else { throw .malformed }
        guard query.utf8.count <= ServerResponder.longestQuery else { throw .malformed }
        var path: [String] = []
        for part in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            // Attack: a proxy in front resolves dots, and this server gets another path than the one it allowed.
            guard let text = part.removingPercentEncoding(), !text.isEmpty, text != ".", text != "..", !text.contains("/")
            else {
                throw .notFound
            }
            path.append(text)
        }
        self.path = path
        var pairs: [(String, String)] = []
        for pair in query.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = FormText.decode(sides[0]), let value = FormText.decode(sides.count > 1 ? sides[1] : "") else {
                throw .malformed
            }
            pairs.append((name, value))
        }
        self.query = pairs
        var headers: [String: String] = [:]
        for field in request.headers {
            let name = field.name.canonicalName
            // Attack: of two headers of one name a proxy checks the first, and this server takes the last.
            if ["authorization", "content-type", "content-length"].contains(name), headers[name] != nil { throw .malformed }
            headers[name] = headers[name].map { "\($0), \(field.value)" } ?? field.value
        }
        self.headers = headers
    }
}

extension Substring {
    /// The text behind `%` and two hex digits. Unlike in forms, a plus is a plus.
    fileprivate func removingPercentEncoding() -> String? { FormText.decode(replacing("+", with: "%2B")[...]) }
}
#endif
