// An http or https address with only one reading. If two programs read one text differently, a password reaches the
// wrong server.

internal import FoundationEssentials
internal import Glibc
internal import OMOnlineModel

/// An address that a request may go to: https, or http within this machine.
struct EndpointURL: Hashable, Sendable {
    /// The port of https.
    static let securePort = 443

    let text: String
    let isSecure: Bool
    /// In lower case; an IPv6 address without its brackets.
    let host: String
    let port: Int
    /// The text from the first slash to the query.
    let path: String

    /// - Throws: ``OnlineFailure/unsafeAddress`` for a character that is not ASCII, a user name in the address, or http
    ///   to another machine, which would carry the password in clear.
    init(_ text: String) throws(OnlineRefusal) {
        guard let address = EndpointURL(reading: text), address.isSecure || address.isLocal else {
            throw .failed(.unsafeAddress)
        }
        self = address
    }

    /// Reads any http or https address, whether a request may go to it or not. Nil if the text is no address.
    init?(reading text: String) {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?[]@!$&'()*+,;=%".utf8)
        guard text.utf8.count <= 4096, text.utf8.allSatisfy(allowed.contains) else { return nil }
        guard let colon = text.firstRange(of: "://") else { return nil }
        switch text[..<colon.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { !"/?".contains($0) }
        let tail = rest[authority.endIndex...]
        guard !authority.contains("@"), let (host, port) = Self.split(authority, isSecure ? Self.securePort : 80) else {
            return nil
        }
        // Attack: the library that connects reads a bracket in the wrong place differently. Such an address is refused.
        // The set above refuses backslashes and blanks for the same reason.
        guard !tail.contains(where: { "[]".contains($0) }) else { return nil }
        (self.host, self.port) = (host, port)
        let path = tail.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        // The host also gets one spelling, for callers that compare texts.
        let start = "\(isSecure ? "https" : "http")://\(authority.lowercased())"
        self.text = path.isEmpty ? start + "/" + tail : start + tail
    }

    /// The text behind the first question mark. Nil if there is none.
    var query: Substring? { text.firstIndex(of: "?").map { text[text.index(after: $0)...] } }

    private static func split(_ authority: Substring, _ usual: Int) -> (String, Int)? {
        var host = authority
        var port = Substring()
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
            guard isAddress(host, AF_INET6) else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            port = authority[host.endIndex...]
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else {
                return nil
            }
            guard !endsInNumber(host) || isAddress(host, AF_INET) else { return nil }
        }
        guard !port.isEmpty else { return (host.lowercased(), usual) }
        let digits = port.dropFirst()
        guard port.first == ":", !digits.isEmpty, digits.count <= 5, digits.allSatisfy(\.isNumber),
            let number = Int(digits), (1...65535).contains(number)
        else { return nil }
        return (host.lowercased(), number)
    }

    /// Whether a reader may take the name for an IPv4 address. Readers after the URL standard decide by the last label.
    ///
    /// Attack: 0127.0.0.1 is this machine to one reader and 87.0.0.1 to the one that connects. Only the form that all
    /// readers read alike counts as an address here. Any other text that looks like one is refused.
    private static func endsInNumber(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let last = (labels.count > 1 && labels.last == "" ? labels.dropLast().last : labels.last) ?? ""
        guard !last.lowercased().hasPrefix("0x") else { return true }
        return !last.isEmpty && last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether `inet_pton` takes the text as an address. For IPv4 that is four plain numbers without leading zeros.
    private static func isAddress(_ text: Substring, _ family: Int32) -> Bool {
        var address = in6_addr()
        return inet_pton(family, String(text), &address) == 1
    }

    /// Whether scheme, host and port are the same. A certificate, or the kernel's loopback, vouches for these three.
    func hasOrigin(of other: EndpointURL) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    /// The origin as text.
    var origin: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// Whether the address is within this machine, where no other machine can read the traffic. A numeric host has only
    /// one form here. Names below localhost do not count: any name server can answer for them.
    var isLocal: Bool { host == Self.localName || host == "::1" || isNumeric && host.hasPrefix("127.") }

    /// The one name that is local. It is never looked up: ``HTTPExchange`` connects to the loopback addresses.
    static let localName = "localhost"

    var isNumeric: Bool { host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." } }

    /// The address that a `Location` leads to, whether a request may go there or not. Nil if it is no address.
    func resolving(_ location: String) -> EndpointURL? {
        let plain = location.prefix { $0 != "#" }
        guard let base = URL(string: text), let target = URL(string: String(plain), relativeTo: base) else {
            return nil
        }
        return EndpointURL(reading: target.absoluteURL.absoluteString)
    }
}
