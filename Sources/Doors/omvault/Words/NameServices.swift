// The name services of this machine, as far as the process that asks a server can reach them. docs/online-protocol.md,
// "Confinement".

internal import OMSystem

enum NameServices {
    private static let path = "/etc/nsswitch.conf"

    /// What to change where a server's name is not found because no name server is asked; nil where one is.
    static var hint: String? {
        guard let bytes = try? TrustedFile.read(path, owner: 0, limit: 1 << 16) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.prefix { $0 != "#" } }
        // Without a line of its own the C library asks name servers.
        guard let hosts = lines.last(where: { $0.drop(while: \.isWhitespace).hasPrefix("hosts:") }),
            !hosts.split(whereSeparator: { $0.isWhitespace || $0 == ":" }).contains("dns")
        else { return nil }
        return
            "add dns to the line \"hosts:\" in \(path): omvault cannot reach name services behind a local socket"
    }
}
