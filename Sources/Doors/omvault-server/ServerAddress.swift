#if Server
// Addresses in settings and options.

internal import Glibc

/// The URL that clients use: https, or http to this machine.
struct ServerAddress {
    let text: String

    init(_ text: String) throws {
        let bare = text.hasSuffix("/") ? String(text.dropLast()) : text
        let rest: Substring
        if bare.hasPrefix("https://") {
            rest = bare.dropFirst(8)
        } else if bare.hasPrefix("http://") {
            rest = bare.dropFirst(7)
            let host = rest.split(separator: ":").first.map(String.init) ?? ""
            guard ["127.0.0.1", "localhost", "[::1]"].contains(host) || rest.hasPrefix("[::1]") else {
                throw ServerFailure(.usage, "http is for this machine only: \(text)", hint: "--url https://…")
            }
        } else {
            throw ServerFailure(.usage, "not an address of a server: \(text)", hint: "--url https://vault.example.org")
        }
        guard !rest.isEmpty, rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#@\"\\<>".utf8.contains($0) }) else {
            throw ServerFailure(.usage, "not an address of a server: \(text)", hint: "--url https://vault.example.org")
        }
        self.text = bare
    }
}

/// `127.0.0.1:8080`, `[::1]:8080`.
struct ListenAddress {
    let host: String
    let port: Int

    init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ServerFailure(.usage, "not an address and a port: \(text)", hint: "--listen 127.0.0.1:8080")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        (self.host, self.port) = (String(host), Int(port))
        guard Self.family(self.host) != nil else {
            throw ServerFailure(.usage, "not an IP address: \(host)", hint: "--listen 127.0.0.1:8080")
        }
    }

    var isLoopback: Bool { Self.isLoopback(host) }

    static func isLoopback(_ host: String) -> Bool { host.hasPrefix("127.") && family(host) == AF_INET || host == "::1" }

    private static func family(_ host: String) -> Int32? {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, host, &four) == 1 { return AF_INET }
        return inet_pton(AF_INET6, host, &six) == 1 ? AF_INET6 : nil
    }
}
#endif
