internal import OMCrypto
internal import OMSecrets

/// A signature of a message.
struct SignatureCheck: VectorCheck {
    let key: PublicKeySource
    let algorithm: SignatureAlgorithm
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            try key.key().verify(signature, of: message, algorithm)
            return .agrees
        }
    }
}

/// A signature that is the same every time. It is made again, compared and verified.
struct SigningCheck: VectorCheck {
    /// PKCS#8 in DER.
    let key: [UInt8]
    let algorithm: SignatureAlgorithm
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let key = try KeyFile(SecretBytes(copying: key)).privateKey()
            guard try key.sign(message, algorithm) == signature else { return .differs("the signature is another") }
            try key.publicKey().verify(signature, of: message, algorithm)
            return .agrees
        }
    }
}
