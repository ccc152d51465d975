// The request of git to a credential helper: lines of key=value, as gitcredentials(7) and git-credential(1) have them.

internal import OMAuth
internal import OMSecrets
internal import OMShell

/// What git wants a credential for.
struct GitRequest: ~Copyable {
    /// Nil if it is no server of http or https.
    let server: ServerURL?
    /// Without a slash in front. Nil if git names none.
    let path: String?
    let user: String?
    /// The password that the server refused, when git erases it. Nil if git names none.
    let password: SecretBytes?
    /// Whether the password ends some time, or is for this use only.
    let isTemporary: Bool
    /// Whether git knows other schemes of authentication than user and password.
    let knowsSchemes: Bool

    init(_ bytes: borrowing SecretBytes) throws(Failure) { self = try bytes.withBytes(Self.read) }

    private static func read(_ bytes: Span<UInt8>) throws(Failure) -> GitRequest {
        var texts: [String: String] = [:]
        var capabilities: Set<String> = []
        var password: SecretBytes?
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
                // Attack: a name with a carriage return in it, which another reader takes for the end of a line.
                guard bytes[end] != 0, bytes[end] != UInt8(ascii: "\r") else {
                    throw refused("it has a NUL or a carriage return")
                }
                end += 1
            }
            // An empty line ends the request.
            guard end > start else { break }
            guard let sign = (start..<end).first(where: { bytes[$0] == UInt8(ascii: "=") }), sign > start else {
                throw refused("a line has no name with \"=\" behind it")
            }
            let key = try text(start..<sign, bytes), value = (sign + 1)..<end
            switch key {
            case "password":
                guard password == nil else { throw refused("it has two passwords") }
                var secret = SecretBuffer(capacity: value.count)
                for index in value { secret.append(bytes[index]) }
                password = secret.finish()
            case "capability[]": capabilities.insert(try text(value, bytes))
            case "protocol", "host", "path", "username", "password_expiry_utc", "ephemeral":
                guard texts.updateValue(try text(value, bytes), forKey: key) == nil else { throw refused("it has \(key) twice") }
            // Later versions of git have more, and some of these are secrets.
            default: break
            }
            start = end + 1
        }
        guard let scheme = texts["protocol"], let host = texts["host"], !host.isEmpty else {
            throw refused("it names no protocol or no host")
        }
        return GitRequest(
            server: try server(scheme, host), path: texts["path"], user: texts["username"], password: password,
            isTemporary: texts["password_expiry_utc"] != nil || texts["ephemeral"] != nil,
            knowsSchemes: capabilities.contains("authtype"))
    }

    private init(
        server: ServerURL?, path: String?, user: String?, password: consuming SecretBytes?, isTemporary: Bool,
        knowsSchemes: Bool
    ) {
        self.isTemporary = isTemporary
        (self.server, self.path, self.user, self.knowsSchemes) = (server, path, user, knowsSchemes)
        self.password = password
    }

    private static func server(_ scheme: String, _ host: String) throws(Failure) -> ServerURL? {
        guard ["http", "https"].contains(scheme) else { return nil }
        guard let server = ServerURL("\(scheme)://\(host)"), server.isOrigin, !host.contains("/") else {
            throw refused("its host is not a host with perhaps a port")
        }
        return server
    }

    private static func text(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(Failure) -> String {
        guard let text = try? UTF8Span(validating: bytes.extracting(range)) else { throw refused("it is not UTF-8") }
        return String(copying: text)
    }

    private static func refused(_ reason: String) -> Failure {
        Failure(.usage, "the request of git is not understood: \(reason)", hint: "git starts this command itself")
    }
}
