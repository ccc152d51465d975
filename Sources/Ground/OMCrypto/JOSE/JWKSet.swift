// The reader of key sets (RFC 7517 section 5), as issuers of tokens publish them.

internal import OMJSON

/// The keys of a set that can verify signed tokens.
///
/// A key is skipped, and the others are used, if it is of another type, is for another use, has private members, or is an RSA
/// key below 2048 bits. A set that is not strict JSON is refused as a whole.
public struct JWKSet: Sendable {
    /// The longest set in bytes.
    public static let maximumCount = 256 << 10
    /// The most keys of a set, with the skipped ones.
    public static let maximumKeys = 64

    private let keys: [JWKSetKey]

    /// How many keys can verify.
    public var count: Int { keys.count }

    /// - Throws: ``CryptoError/malformedKey(_:)`` unless the bytes are a JSON object with the list `keys`, within the limits.
    public init(_ bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count <= Self.maximumCount else { throw .malformedKey(.jwk) }
        guard let elements = (try? JSON(parsing: bytes.span))?.members?["keys"]?.elements,
            elements.count <= Self.maximumKeys
        else { throw .malformedKey(.jwk) }
        keys = elements.compactMap { try? JWKSetKey(Array($0.serialized.utf8).span) }
    }

    /// The one key that verifies a token with this header.
    func key(for header: JWSHeader) throws(CryptoError) -> JWKSetKey {
        var candidates = keys
        if let keyID = header.keyID {
            // Attack: a token with an invented `kid` is verified by another key of the set, for example by a withdrawn
            // key.
            candidates = keys.filter { $0.hasID(keyID) }
            guard !candidates.isEmpty else { throw .unknownKeyID }
        }
        let fitting = candidates.filter { $0.fits(header.algorithm) }
        guard let key = fitting.first else { throw .wrongKeyType }
        // Attack: a set with a second key under the same `kid`. Trying both would let the weaker one decide.
        guard fitting.count == 1 else { throw .severalKeys }
        return key
    }
}
