import OMCrypto
import OMSecrets

/// A key for each algorithm of tokens.
enum TokenKey {
    static let p384 = KeyBox { try PrivateKey.generate(.ec(.p384)) }
    static let ed25519 = KeyBox { try PrivateKey.generate(.ed25519) }
    static let all: [(algorithm: JWSAlgorithm, box: KeyBox)] = [
        (.rs256, Sample.rsa), (.ps256, Sample.rsa), (.es256, Sample.p256), (.es384, p384), (.edDSA, ed25519),
    ]
}

/// A token with any header, signed by `sign`.
func token(_ header: String, _ payload: String = "{}", sign: ([UInt8]) throws -> [UInt8]) rethrows -> String {
    let message = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))"
    return "\(message).\(Base64URL.encode(try sign(Array(message.utf8))))"
}

/// The public half as a JWK, with more members.
func jwk(_ box: KeyBox, _ members: String = "") throws -> String {
    String(try box.key.publicKey().jwk().dropLast()) + (members.isEmpty ? "" : ",") + members + "}"
}

func keySet(_ keys: String...) throws(CryptoError) -> JWKSet {
    try JWKSet(Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8))
}

/// The payload that the set verifies, or the error.
func outcome(_ token: String, _ keys: JWKSet, allowing algorithms: Set<JWSAlgorithm> = Set(JWSAlgorithm.allCases)) -> Result<
    String, CryptoError
> {
    do throws(CryptoError) {
        let parsed = try JWS(secret(token))
        return .success(try parsed.verified(by: keys, allowing: algorithms).payload.text())
    } catch { return .failure(error) }
}

/// The payload that the key verifies, or the error.
func outcome(_ token: String, _ box: KeyBox, as algorithm: JWSAlgorithm) -> Result<String, CryptoError> {
    do throws(CryptoError) {
        let parsed = try JWS(secret(token))
        return .success(try parsed.verified(by: box.key.publicKey(), as: algorithm).payload.text())
    } catch { return .failure(error) }
}
