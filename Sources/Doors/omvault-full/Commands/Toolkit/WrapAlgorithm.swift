internal import OMCrypto
internal import OMShell

/// The families of wrapping algorithms that `--alg` names. A new family needs a case here, and a branch in `wrap` and in
/// `unwrap`.
enum WrapAlgorithm {
    case aes(AESKeyWrap)
    /// Wrapping with a public key.
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
