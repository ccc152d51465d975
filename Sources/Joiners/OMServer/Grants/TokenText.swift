#if Server
// The text of a token. docs/formats/server-protocol.md, "Grants".

internal import OMCrypto
internal import OMSecrets

/// 32 random bytes behind a prefix that says what they are. The store has only the digest of it.
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

    static func make(_ kind: Kind) -> String { kind.prefix + random() }

    /// The secret of a client.
    static func makeClientSecret() -> String { "omvs_" + random() }

    private static func random() -> String { Base64URL.encode(Random.bytes(32)) }

    /// The digest in the store: 32 bytes. A token is random, so its digest tells nothing about it.
    static func digest(_ text: String) -> [UInt8] { digest(text.utf8Span.span) }

    /// The digest of a token from a request.
    static func digest(of token: borrowing SecretBytes) -> [UInt8] { token.withBytes { digest($0) } }

    private static func digest(_ bytes: Span<UInt8>) -> [UInt8] { PublicHash.hash(bytes) }
}
#endif
