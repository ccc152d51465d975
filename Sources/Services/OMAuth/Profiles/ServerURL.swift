// A server's address, read strictly. If two readers see different hosts in one text, a password reaches the wrong server.

/// `http` or `https`, a host, and perhaps a port, a path and a query.
///
/// It has no user, no password, no fragment, no backslash and no blank, and it is all ASCII. A host is a name, an IPv4
/// address or an IPv6 address in brackets.
public struct ServerURL: Hashable, Sendable {
    package static let longest = 2048

    /// The text as given.
    public let text: String
    public let isSecure: Bool
    /// In lower case; an IPv6 address with its brackets.
    public let host: String
    /// 443 or 80 if the text has none.
    public let port: Int
    /// The path as given, or `/` if there is none.
    public let path: String

    public init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard rest.count <= Self.longest, rest.allSatisfy(Self.isAllowed), Self.isEscapedWell(rest) else { return nil }
        guard let scheme = Self.scheme(&rest) else { return nil }
        let end = rest.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?")].contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        let colon = authority.lastIndex(of: UInt8(ascii: ":"))
        let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
        // The last colon in [::1] is part of the address.
        let split = colon.flatMap { colon in bracket.map { colon > $0 } ?? true ? colon : nil }
        guard let host = Self.host(authority[..<(split ?? authority.endIndex)]) else { return nil }
        if let split {
            guard let port = Self.port(authority[(split + 1)...]) else { return nil }
            self.port = port
        } else {
            port = scheme ? 443 : 80
        }
        (self.text, isSecure, self.host) = (text, scheme, host)
        let path = rest[end...].prefix { $0 != UInt8(ascii: "?") }
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }

    /// `scheme://host:port`, always with the port.
    package var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

    /// The origin as people write it: without the port if it is the scheme's own.
    package var shortOrigin: String {
        let scheme = isSecure ? "https" : "http"
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(host)" : origin
    }

    /// Whether there is no path and no query.
    package var isOrigin: Bool { path == "/" && !text.contains("?") }

    /// Origin and path. Two texts that every reader takes for one address give the same value. Paths are compared byte
    /// by byte. If equal addresses look different, the user only logs in online again. If different ones looked equal,
    /// one server's users could log in at another.
    package var address: String { origin + path }

    /// Whether the host can only be this machine: `localhost`, 127.0.0.0/8 or `[::1]`.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // Attack: 127.0.0.1.example.org is another machine's name. Only four numbers count.
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0).map { "\($0)" } == String($0) }
    }

    // MARK: - The parts

    private static func scheme(_ rest: inout ArraySlice<UInt8>) -> Bool? {
        for (name, isSecure) in [("https://", true), ("http://", false)] {
            let head = String(decoding: rest.prefix(name.utf8.count), as: UTF8.self).lowercased()
            guard head == name else { continue }
            rest = rest.dropFirst(name.utf8.count)
            return isSecure
        }
        return nil
    }

    private static func host(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        if text.hasPrefix("["), text.hasSuffix("]") {
            let address = text.dropFirst().dropLast()
            let isAddress = address.utf8.allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
            return isAddress && address.split(separator: ":", omittingEmptySubsequences: false).count > 2 ? text : nil
        }
        guard (1...253).contains(text.utf8.count) else { return nil }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0) }
        }
        return isName && (!endsInNumber(labels) || isIPv4(labels)) ? text : nil
    }

    /// Whether readers of the URL standard take the name for an IPv4 address. They decide by the last label.
    private static func endsInNumber(_ labels: [Substring]) -> Bool {
        let last = labels.last ?? ""
        return last.hasPrefix("0x") || last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Attack: 0127.0.0.1 is this machine to one reader and 87.0.0.1 to another. Only four plain numbers without
    /// leading zeros are an address.
    private static func isIPv4(_ labels: [Substring]) -> Bool {
        labels.count == 4 && labels.allSatisfy { label in UInt8(label).map { "\($0)" } == String(label) }
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard let port = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(port) else { return nil }
        return port
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}#".utf8.contains(byte)
    }

    private static func isEscapedWell(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else { return true }
            return PercentEncoding.escaped(bytes, at: index) != nil
        }
    }
}
