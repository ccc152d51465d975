// The name services that the confined online helper can reach. docs/formats/online-protocol.md, "Confinement".

internal import OMSystem

enum NameServices {
    private static let path = "/etc/nsswitch.conf"

    /// The hint for a server's name that was not found. Nil if the system asks name servers: then there is nothing to change.
    static var hint: String? {
        guard let bytes = try? TrustedFile.read(path, owner: 0, limit: 1 << 16) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.prefix { $0 != "#" } }
        // Without a line "hosts:" the C library asks name servers.
        guard let hosts = lines.last(where: { $0.drop(while: \.isWhitespace).hasPrefix("hosts:") }),
            !hosts.split(whereSeparator: { $0.isWhitespace || $0 == ":" }).contains("dns")
        else { return nil }
        return
            "add dns to the line \"hosts:\" in \(path): omvault cannot reach name services behind a local socket"
    }
}
