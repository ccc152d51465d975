// The words for what key files and key pairs can refuse.

internal import OMCrypto

extension Failure {
    /// - Parameter error: one of the key pairs' own.
    init(ofKeys error: CryptoError) {
        switch error {
        case .cannotGenerate:
            self.init(
                .usage, "a key of this type and size is not made here",
                hint: "RSA has 2048 to 8192 bits, a multiple of 8")
        case .invalidTag: self.init(.usage, "a key pair needs a tag that is not empty")
        case .keyPairNotFound: self.init(.notFound, "no key pair is stored under this tag", hint: "omvault ls")
        case .keyPairExists:
            self.init(
                .exists, "a key pair is stored under this tag already", hint: "omvault crypto keyrm --tag … removes it")
        case .cannotSign: self.init(.usage, "the key is too small for this algorithm, or the two do not go together")
        case .emptySignature: self.init(.badSignature, "the signature is empty")
        case .badSignature:
            self.init(.badSignature, "the signature is not of this key, this message and this algorithm")
        case .cannotUnwrap:
            self.init(.corrupt, "it does not unwrap: another key or label, or the data was changed")
        case .wrongKeyType:
            self.init(.usage, "a key of this type does not do that", hint: "omvault crypto inspect says what a key is")
        case .keyUseNotAllowed:
            self.init(
                .usage, "the key's own \"use\" or \"key_ops\" does not allow this",
                hint: "take a key that is meant for it; a JWK says what it is for")
        case .unknownKeyFormat: self.init(.corrupt, "not a key file of any kind that is known here")
        case .malformedKey(let format): self.init(.corrupt, "damaged, or not strict \(format.rawValue)")
        case .unsupportedKey(.openSSHPrivate):
            self.init(
                .unsupported, "an OpenSSH private key that is encrypted, or of a type that is not offered here",
                hint: "ssh-keygen -p -m PKCS8 -f FILE turns it into PKCS#8")
        case .unsupportedKey(let format):
            self.init(.unsupported, "\(format.rawValue) with a cipher, a curve or a version that is not offered here")
        case .invalidKey: self.init(.corrupt, "the numbers make no key: forged, damaged or out of bounds")
        case .keyPasswordRequired:
            self.init(.inputRequired, "the key file is encrypted", hint: "--key-password-from names its password")
        case .wrongKeyPassword: self.init(.badSecret, "wrong password, or the key file was changed")
        case .noPrivateKey: self.init(.usage, "the file holds no private key")
        case .severalKeys:
            self.init(.ambiguous, "two keys or more are in one file", hint: "one key a file")
        case .certificateInsteadOfKey:
            self.init(
                .usage, "a certificate, not a key",
                hint: "openssl x509 -pubkey -noout -in FILE takes its public key out, once you trust it")
        case .foreignCertificate:
            self.init(
                .usage, "the first certificate is not that of the key", hint: "the key's own certificate comes first")
        default: self.init(.general, "the key cannot be used")
        }
    }
}
