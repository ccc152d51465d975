#if Server
// The name of a remote in a path: V-I.

internal import OMSecrets

struct RemoteName: Hashable, Sendable {
    /// 16 bytes each.
    let vault: [UInt8]
    let incarnation: [UInt8]

    init(vault: [UInt8], incarnation: [UInt8]) { (self.vault, self.incarnation) = (vault, incarnation) }

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let vault = Self.id(String(parts[0])), let incarnation = Self.id(String(parts[1])) else {
            return nil
        }
        (self.vault, self.incarnation) = (vault, incarnation)
    }

    /// - Returns: nil for a text that is not 32 digits in lower case: an id has one name.
    static func id(_ text: String) -> [UInt8]? {
        guard let bytes = try? Hex.decode(text), bytes.count == 16, Hex.encode(bytes) == text else { return nil }
        return bytes
    }
}
#endif
