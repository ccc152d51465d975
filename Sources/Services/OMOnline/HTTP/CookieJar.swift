// The cookies of one login by RFC 6265: which are kept, and which servers get them back.

internal import OMOnlineModel

struct CookieJar: Codable, Sendable {
    static let maximumCookies = 64
    static let maximumBytes = 32 << 10

    struct Cookie: Codable, Sendable {
        let name: String
        let value: String
        /// The host that set the cookie, or the domain that the cookie names.
        let domain: String
        let coversSubdomains: Bool
        let path: String
        let isSecure: Bool
        let expires: Int64?
    }

    private(set) var cookies: [Cookie] = []

    /// Stores the cookies that a server set. An expired cookie removes the stored one of the same name. A cookie for
    /// another server's domain is left out.
    mutating func store(_ fields: [String], from address: EndpointURL, now: Int64) throws(OnlineRefusal) {
        for field in fields {
            guard let cookie = Self.read(field, from: address, now: now) else { continue }
            cookies.removeAll { $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path }
            if cookie.expires.map({ $0 > now }) ?? true { cookies.append(cookie) }
        }
        let bytes = cookies.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + $1.path.utf8.count }
        guard cookies.count <= Self.maximumCookies, bytes <= Self.maximumBytes else { throw .failed(.answerTooLarge) }
    }

    /// Whether the jar holds each of `names` with a value. A server that logs out sets an empty value.
    func holds(_ names: [String]) -> Bool {
        names.allSatisfy { name in cookies.contains { $0.name == name && !$0.value.isEmpty } }
    }

    /// The value of the `Cookie` header for `address`, or nil if no cookie fits.
    func field(for address: EndpointURL, now: Int64) -> String? {
        let fitting = cookies.filter { cookie in
            (!cookie.isSecure || address.isSecure || address.isLocal) && cookie.expires.map { $0 > now } ?? true
                && Self.covers(cookie, address.host) && Self.covers(path: cookie.path, address.path)
        }
        return fitting.isEmpty ? nil : fitting.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    private static func covers(_ cookie: Cookie, _ host: String) -> Bool {
        host == cookie.domain || cookie.coversSubdomains && host.hasSuffix("." + cookie.domain)
    }

    private static func covers(path: String, _ asked: String) -> Bool {
        asked == path || asked.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    static func read(_ field: String, from address: EndpointURL, now: Int64) -> Cookie? {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0) }
        guard let first = parts.first, let equals = first.firstIndex(of: "=") else { return nil }
        let (name, value) = (trimmed(first[..<equals]), trimmed(first[first.index(after: equals)...]))
        // Attack: a cookie that is sent back ends the header's line or adds another cookie. Only printable ASCII is stored.
        guard !name.isEmpty, [name, value].allSatisfy({ $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) else {
            return nil
        }
        var domain = address.host
        var coversSubdomains = false
        var path = address.path.lastIndex(of: "/").map { String(address.path[..<$0]) } ?? "/"
        if path.isEmpty { path = "/" }
        var isSecure = false
        var expires: Int64?
        var lives: Int64?
        for part in parts.dropFirst() {
            let key = trimmed(part.prefix { $0 != "=" }).lowercased()
            let value = trimmed(part.dropFirst(key.count).drop { $0 == " " }.dropFirst())
            switch key {
            case "domain" where !value.isEmpty:
                let wanted = (value.hasPrefix(".") ? String(value.dropFirst()) : String(value)).lowercased()
                if wanted == address.host { continue }
                // Attack: a server below a public suffix sets a cookie for other servers below it. The domain needs a
                // dot and must contain this host.
                guard wanted.contains("."), !address.isNumeric, address.host.hasSuffix("." + wanted) else { return nil }
                (domain, coversSubdomains) = (wanted, true)
            case "path": path = value.hasPrefix("/") ? String(value) : path
            case "secure": isSecure = true
            case "max-age": lives = seconds(value) ?? lives
            case "expires": expires = HTTPDate.seconds(String(value)) ?? expires
            default: break
            }
        }
        // By RFC 6265, Max-Age wins over Expires.
        if let lives {
            let (end, isBeyond) = now.addingReportingOverflow(lives)
            expires = lives <= 0 ? 0 : isBeyond ? .max : end
        }
        return Cookie(
            name: String(name), value: String(value), domain: domain, coversSubdomains: coversSubdomains, path: path,
            isSecure: isSecure, expires: expires)
    }

    /// `Max-Age`: digits, perhaps after a minus. A number too large for 64 bits counts as never expiring, or as expired.
    private static func seconds(_ text: Substring) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? (text.hasPrefix("-") ? .min : .max)
    }

    private static func trimmed(_ text: some StringProtocol) -> Substring {
        let text = Substring(text)
        guard let first = text.firstIndex(where: { !" \t".contains($0) }),
            let last = text.lastIndex(where: { !" \t".contains($0) })
        else { return "" }
        return text[first...last]
    }
}
