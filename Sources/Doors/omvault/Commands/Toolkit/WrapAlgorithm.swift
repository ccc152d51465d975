internal import OMCrypto

/// The families of wrapping, by the names of `--alg`. A new family is one case here and one branch in `wrap` and in
/// `unwrap`.
enum WrapAlgorithm {
    case aes(AESKeyWrap)
    /// Under a public key.
    case publicKey(PublicKeyWrap)

    static let names = (AESKeyWrap.allCases.map(\.name) + ["rsa-oaep-HASH", "rsa-pkcs1", "x25519"])
        .joined(separator: ", ")

    init(named name: String) throws(Failure) {
        if let wrap = try? AESKeyWrap(named: name) {
            self = .aes(wrap)
        } else if let wrap = try? PublicKeyWrap(named: name) {
            self = .publicKey(wrap)
        } else {
            throw Failure(.usage, "there is no way of wrapping called \"\(name)\"", hint: "one of: \(Self.names)")
        }
    }
}
