public import OMAuth
public import OMOnlineModel

/// A request to a web service.
public struct RESTRequest: Sendable {
    public let method: String
    public let address: ServerURL
    public let headers: [OnlineService.Header]
    public let body: RESTBody
    /// The scopes that the access token must have. Nil for any token of the session.
    public let scopes: ScopeSet?
    /// The server that the access token is for (RFC 8707). Nil for the session's own token.
    public let resource: String?
    /// How many redirects are followed.
    public let redirects: Int
    /// How long the request with its answer may take, in seconds.
    public let seconds: UInt32

    /// The most seconds of a request.
    public static let longest = RequestOpening.total / 1_000

    /// - Throws: ``RESTError/unusable`` for a method or a header that HTTP does not have, a header that frames the request, an
    ///   address over http to another machine, and a resource that is none.
    public init(
        _ method: String, _ address: ServerURL, headers: [OnlineService.Header] = [], body: RESTBody = .none,
        scopes: ScopeSet? = nil, resource: String? = nil, redirects: Int = 0, seconds: UInt32 = RESTRequest.longest
    ) throws(RESTError) {
        guard Self.isName(method), method != "CONNECT", headers.allSatisfy(Self.isUsable),
            headers.count < RequestHead.mostHeaders,
            // Attack: a name server sends a name over http elsewhere. So only this machine's own addresses go without TLS.
            address.isSecure || address.isLoopback, (1...Self.longest).contains(seconds),
            resource.map({ TokenNarrowing(scopes: ScopeSet(), resource: $0) != nil }) ?? true
        else { throw .unusable }
        (self.method, self.address, self.headers, self.body) = (method, address, headers, body)
        (self.scopes, self.resource, self.redirects, self.seconds) = (scopes, resource, redirects, seconds)
    }

    /// Headers that say where a request ends. A second one would make two requests of one.
    private static let framing: Set<String> = [
        "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer", "keep-alive",
        "proxy-connection",
    ]

    /// Headers that no request with an access token may set.
    package static let ofToken: Set<String> = [
        "authorization", "cookie", "dpop", "dpop-nonce", "host", "proxy-authorization",
    ]

    /// Whether a header can be sent at all.
    package static func isUsable(_ header: OnlineService.Header) -> Bool {
        // Attack: a value with a line break adds headers, or a second request.
        isName(header.name) && !framing.contains(header.name.lowercased()) && header.value.utf8.count <= 64 << 10 - 1
            && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func isName(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

extension ServerURL {
    /// Path and query, as a request line has them.
    var target: String {
        let rest = text[(text.firstRange(of: "://")?.upperBound ?? text.startIndex)...]
        guard let start = rest.firstIndex(where: { "/?".contains($0) }) else { return "/" }
        return rest[start] == "?" ? "/\(rest[start...])" : String(rest[start...])
    }

    /// The address that a `Location` leads to. Nil if it is no http or https address.
    func resolving(_ location: String) -> ServerURL? {
        let text = String(location.prefix { $0 != "#" })
        if text.contains("://"), let whole = ServerURL(text) { return whole }
        if text.hasPrefix("//") { return ServerURL("\(isSecure ? "https" : "http"):\(text)") }
        if text.hasPrefix("/") { return ServerURL(shortOrigin + Self.withoutDots(text)) }
        if text.hasPrefix("?") { return ServerURL(shortOrigin + path + text) }
        // Attack: a scheme such as `file:` looks like a path.
        guard !text.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") else { return nil }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return ServerURL(shortOrigin + Self.withoutDots(folder + text))
    }

    /// A path without its segments `.` and `..` (RFC 3986, 5.2.4), with the query behind it.
    private static func withoutDots(_ target: String) -> String {
        let end = target.firstIndex(of: "?") ?? target.endIndex
        var segments: [Substring] = []
        let given = target[..<end].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in given.enumerated() {
            let isLast = index == given.count - 1
            switch segment {
            case ".": if isLast { segments.append("") }
            case "..":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(segment)
            }
        }
        return "/" + segments.joined(separator: "/") + target[end...]
    }
}
