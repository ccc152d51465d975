// The sockets to which a browser brings the answer of a login. The caller of a helper makes them, and the helper accepts on them.

internal import COMSystem
internal import Glibc
internal import OMAuth

/// Listening sockets at the loopback address of a redirect address. They are closed when this value ends.
struct LoopbackListeners: ~Copyable {
    enum Problem: Error {
        /// Another program listens at the port that the profile names.
        case portTaken(UInt16)
        /// The redirect address is not one of this machine.
        case notLoopback
        /// The system gives no socket.
        case system
    }

    let descriptors: [Int32]

    /// - Parameter redirect: `http://127.0.0.1`, `http://[::1]` or `http://localhost`, with a port or without. For `localhost` both
    ///   addresses are bound, or neither: a browser may try either one, and no other program may be there.
    init(for redirect: String) throws(Problem) {
        let plain = redirect.prefix { $0 != "?" }
        guard let address = ServerURL(String(plain)), !address.isSecure else { throw .notLoopback }
        let hasPort = address.text.dropFirst("http://".count).prefix { $0 != "/" }.drop { $0 != "]" && $0 != ":" }.contains(":")
        let port = hasPort ? UInt16(address.port) : 0
        switch address.host {
        case "127.0.0.1": descriptors = try Self.bind([false], port)
        case "[::1]": descriptors = try Self.bind([true], port)
        case "localhost": descriptors = try Self.bind([false, true], port)
        default: throw .notLoopback
        }
    }

    deinit { descriptors.forEach { close($0) } }

    /// How often another free port is tried, if only one of the two addresses has it.
    private static let tries = 16

    private static func bind(_ families: [Bool], _ port: UInt16) throws(Problem) -> [Int32] {
        for _ in 0..<(port == 0 ? tries : 1) {
            var bound: [Int32] = []
            var chosen = port
            var isTaken = false
            for isSix in families {
                let descriptor = om_loopback_listen(isSix, chosen)
                if descriptor >= 0 {
                    bound.append(descriptor)
                    chosen = om_loopback_port(descriptor)
                } else if isSix, families.count > 1, errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT {
                    // This machine has no such address, so no other program is there.
                    continue
                } else {
                    isTaken = errno == EADDRINUSE || errno == EACCES
                    bound.forEach { close($0) }
                    bound = []
                    break
                }
            }
            if !bound.isEmpty { return bound }
            guard isTaken else { throw .system }
        }
        throw .portTaken(port)
    }
}
