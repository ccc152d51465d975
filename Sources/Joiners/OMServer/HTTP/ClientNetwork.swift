#if Server
// The network of a client, for limits: an IPv4 address, or the first 64 bits of an IPv6 address.

internal import Glibc

/// Attack: one customer of a provider has 2^64 addresses of IPv6. Counted one by one, they would have no limit.
package enum ClientNetwork {
    /// - Returns: The text itself, unless it is an IPv6 address.
    package static func of(_ address: String) -> String {
        var bytes = in6_addr()
        guard address.contains(":"), inet_pton(AF_INET6, address, &bytes) == 1 else { return address }
        let network = withUnsafeBytes(of: &bytes) { Array($0) }
        // An IPv4 address in the form of IPv6 counts by itself.
        guard network[..<10].contains(where: { $0 != 0 }) else { return address }
        return network[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "/64"
    }
}
#endif
