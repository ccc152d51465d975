#if Server
// The text of a token. docs/formats/server-protocol.md, "Grants".

internal import OMCrypto
internal import OMSecrets

/// 32 random bytes behind a prefix that says what they are. The store has its digest only.
package enum TokenText {
    package enum Kind: Int64, Sendable {
        case access = 1
        case refresh = 2

        var prefix: String {
            switch self {
            case .access: "omva_"
            case .refresh: "omvr_"
            }
        }
    }

    static func make(_ kind: Kind) -> String { kind.prefix + Base64URL.encode(Random.bytes(32)) }

    /// What the store has of it: 32 bytes. A token is random, so its digest says nothing of it.
    static func digest(_ text: String) -> [UInt8] { PublicHash.hash(Array(text.utf8)) }
}
#endif
