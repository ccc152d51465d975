// An http or https address, in one reading. Two readings of one text are how a password ends up with the wrong server.

internal import FoundationEssentials
internal import OMRecords

/// An address that a request may go to: https, or http within this machine.
struct WebAddress: Hashable, Sendable {
    let text: String
    let isSecure: Bool
    /// In lower case; an IPv6 address without its brackets.
    let host: String
    let port: Int
    /// From the first slash to the query.
    let path: String

    /// - Throws: ``OnlineFailure/unsafeAddress``: anything but ASCII, a user in it, and http to another machine, which
    ///   would carry the password in clear.
    init(_ text: String) throws(OnlineRefusal) {
        guard let address = WebAddress(reading: text), address.isSecure || address.isLocal else {
            throw .failed(.unsafeAddress)
        }
        self = address
    }

    /// As the text stands, whether it may be used or not; nil when it is no address.
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
        guard !authority.contains("@"), let (host, port) = Self.split(authority, isSecure ? 443 : 80) else {
            return nil
        }
        // Attack: a backslash, a blank or a bracket in the wrong place is read differently by the library that connects.
        guard !tail.contains(where: { "[]".contains($0) }) else { return nil }
        (self.host, self.port) = (host, port)
        let path = tail.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        self.text = path.isEmpty ? text[..<authority.endIndex] + "/" + tail : text
    }

    private static func split(_ authority: Substring, _ usual: Int) -> (String, Int)? {
        var host = authority
        var port = Substring()
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
            guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            port = authority[host.endIndex...]
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else {
                return nil
            }
        }
        guard !port.isEmpty else { return (host.lowercased(), usual) }
        let digits = port.dropFirst()
        guard port.first == ":", !digits.isEmpty, digits.count <= 5, digits.allSatisfy(\.isNumber),
            let number = Int(digits), (1...65535).contains(number)
        else { return nil }
        return (host.lowercased(), number)
    }

    /// Scheme, host and port: what a certificate, or the kernel's loopback, answers for.
    func hasOrigin(of other: WebAddress) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    /// The origin as a text.
    var origin: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// Within this machine, where nobody is on the way.
    var isLocal: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }

    var isNumeric: Bool { host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." } }

    /// Where a `Location` leads, whether it may be followed or not; nil when it is no address.
    func resolving(_ location: String) -> WebAddress? {
        let plain = location.prefix { $0 != "#" }
        guard let base = URL(string: text), let target = URL(string: String(plain), relativeTo: base) else {
            return nil
        }
        return WebAddress(reading: target.absoluteURL.absoluteString)
    }
}
