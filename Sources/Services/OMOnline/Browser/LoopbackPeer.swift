// The user at the other end of a connection over loopback, from the kernel's table of connections.

internal import Glibc

enum LoopbackPeer {
    /// The most bytes of the table that are read.
    private static let longestTable = 8 << 20

    /// One end of a connection.
    struct End: Sendable {
        let address: String
        let port: Int

        /// As the table has it: `0100007F:1F90`. Nil if it is no address of IPv4.
        fileprivate var text: String? {
            let bytes = address.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
            guard bytes.count == 4, let port = UInt16(exactly: port) else { return nil }
            // The kernel prints the four bytes as one number of this machine, which has its lowest byte first.
            return bytes.reversed().map { hex(UInt32($0), 2) }.joined() + ":" + hex(UInt32(port), 4)
        }
    }

    /// The user whose socket is `other` and connected to `own`. Nil if the kernel does not name one.
    static func user(from other: End, to own: End) -> UInt32? {
        guard let other = other.text, let own = own.text else { return nil }
        return user(from: other, to: own, in: table())
    }

    /// - Parameters:
    ///   - other, own: Addresses as the table has them: `0100007F:1F90`.
    ///   - table: Lines of `number: local remote state queues timer retransmits user …` (proc_net_tcp).
    static func user(from other: String, to own: String, in table: String) -> UInt32? {
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ", maxSplits: 8)
            if fields.count > 8, fields[1] == other, fields[2] == own { return UInt32(fields[7]) }
        }
        return nil
    }

    private static func hex(_ number: UInt32, _ count: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: count - digits.count) + digits
    }

    private static func table() -> String {
        let descriptor = open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < longestTable {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
