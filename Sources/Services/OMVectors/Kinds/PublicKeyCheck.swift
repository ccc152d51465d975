internal import OMCrypto
internal import OMSecrets

/// Whether a public key is valid.
struct PublicKeyCheck: VectorCheck {
    let key: PublicKeySource

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            _ = try key.key()
            return .agrees
        }
    }
}

/// A private number and its point.
struct KeyPairCheck: VectorCheck {
    let curve: EllipticCurve
    let scalar: [UInt8]
    let point: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let key = try PrivateKey(curve, scalar: SecretBytes(copying: scalar))
            return try key.publicKey().rawBytes == point ? .agrees : .differs("the point is another")
        }
    }
}
