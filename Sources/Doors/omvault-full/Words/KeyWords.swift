// Messages for errors of key files and key pairs.

internal import OMCrypto
internal import OMShell

extension Failure {
    /// - Parameter error: An error of a key file or a key pair.
    init(ofKeys error: CryptoError) {
        switch error {
        case .cannotGenerate:
            self.init(
                .usage, "omvault does not make keys of this type and size",
                hint: "an RSA key has 2048 to 8192 bits, a multiple of 8")
        case .invalidTag: self.init(usage: "the tag of a key pair cannot be empty")
        case .keyPairNotFound: self.init(.notFound, "no key pair is stored under this tag", hint: "omvault ls")
        case .keyPairExists:
            self.init(
                .exists, "a key pair is already stored under this tag", hint: "omvault crypto keyrm --tag … removes it")
        case .cannotSign: self.init(usage: "the key is too small for this algorithm, or is of another type")
        case .emptySignature: self.init(.badSignature, "the signature is empty", hint: "check the file of --signature")
        case .badSignature:
            self.init(
                .badSignature, "the signature does not match this key, this message and this algorithm",
                hint: "check all three; omvault crypto inspect shows what the key is")
        case .cannotUnwrap:
            self.init(
                .corrupt, "cannot unwrap: wrong key or label, or the data was changed",
                hint: "check --kek-from, and --label and --mgf for rsa-oaep")
        case .wrongKeyType:
            self.init(
                .usage, "a key of this type cannot be used for this", hint: "omvault crypto inspect shows the type of a key")
        case .keyUseNotAllowed:
            self.init(
                .usage, "the key's own \"use\" or \"key_ops\" does not allow this",
                hint: "use another key; omvault crypto inspect shows what a key is")
        case .unknownKeyFormat:
            self.init(
                .corrupt, "the file is not a key file that omvault can read",
                hint: "docs/reference/toolkit.md lists the forms of keys")
        case .malformedKey(.ageRecipient):
            self.init(
                .corrupt, "this is not a recipient of age: a character is wrong or missing",
                hint: "copy all of it; age1 and 58 characters in lower case follow each other without blanks")
        case .malformedKey(.ageIdentity):
            self.init(
                .corrupt, "this is not an identity of age: a character is wrong or missing",
                hint: "an identity is one line: AGE-SECRET-KEY-1 and 58 characters in upper case")
        case .malformedKey(.encryptedAgeIdentity):
            self.init(
                .corrupt, "the age file was changed, or what it holds is no identity of age",
                hint: "omvault crypto decrypt shows what it holds")
        case .unsupportedKey(.encryptedAgeIdentity):
            self.init(
                .unsupported, "this is an age file that a key opens, and an identity is in one for a password",
                hint: "if a key is in it: omvault crypto decrypt takes it out")
        case .unsupportedKey(.ageRecipient), .unsupportedKey(.ageIdentity):
            self.init(
                .unsupported, "omvault does not know this kind of age key; it knows age1… and AGE-SECRET-KEY-1… of X25519",
                hint: "use age with its plugin, or a key of \"omvault crypto keygen --type age\"")
        case .malformedKey(let format):
            self.init(.corrupt, "the key is damaged, or not strict \(format.rawValue)", hint: "take another copy of the key")
        case .unsupportedKey(.openSSHPrivate):
            self.init(
                .unsupported, "omvault cannot read this OpenSSH private key: its cipher or its type is not known",
                hint: "if it is the cipher: ssh-keygen -p -f FILE writes the key with another one")
        case .unsupportedKey(let format):
            self.init(
                .unsupported, "the \(format.rawValue) key has a cipher, a curve or a version that omvault does not support",
                hint: "docs/reference/toolkit.md lists the forms of keys")
        case .invalidKey:
            self.init(
                .corrupt, "the numbers of the key are not valid: forged, damaged or out of bounds",
                hint: "do not use this key; omvault crypto keygen makes a new one")
        case .keyPasswordRequired:
            self.init(.inputRequired, "the key file is encrypted", hint: "give its password with --key-password-from")
        case .wrongKeyPassword:
            self.init(.badSecret, "wrong password, or the key file was changed", hint: "try again with --key-password-from")
        case .noPrivateKey: self.init(usage: "the file holds no private key")
        case .severalKeys:
            self.init(.ambiguous, "the file holds more than one key", hint: "put each key in a file of its own")
        case .certificateInsteadOfKey:
            self.init(
                .usage, "the file holds a certificate, not a key",
                hint: "if you trust the certificate: openssl x509 -pubkey -noout -in FILE prints its public key")
        case .foreignCertificate:
            self.init(
                .usage, "the first certificate does not belong to the key", hint: "put the key's own certificate first")
        case .noCertificate:
            self.init(.notFound, "the private key has no certificate", hint: "omvault cert csr makes a request for one")
        case .severalCertificates:
            self.init(.corrupt, "there is more than one certificate for the private key", hint: "keep only one of them")
        case .invalidName:
            self.init(
                .usage, "the certificate cannot have this subject, or one of these alternative names",
                hint: "a country has two letters; other values have at most 64 characters")
        case .malformedJWS:
            self.init(
                .corrupt, "the token is not a strict signed token (compact JWS)",
                hint: "it has three parts of base64url, and no crit or b64 in its header")
        case .algorithmNotAllowed:
            self.init(
                .corrupt, "the token's algorithm is not allowed here",
                hint: "RS256, PS256, ES256, ES384 and EdDSA are supported; none and HS256 never are")
        case .unknownKeyID:
            self.init(.notFound, "the key set has no key with the token's kid", hint: "get the issuer's key set again, once")
        default: self.init(.general, "the key cannot be used", hint: "omvault crypto inspect shows what the key is")
        }
    }
}
