// Functions that the kinds of key pairs share.

internal import OMCrypto

enum KeyChecks {
    /// The hash that a file names: `SHA-256`, `sha256`, `SHA2-256`, `SHA256`, and CAVP's `SHA512224` of SHA-512/224.
    static func hash(_ name: String) -> DigestAlgorithm? {
        let plain = name.lowercased().replacing("sha2-", with: "sha-").replacing("-512224", with: "512-224")
            .replacing("-512256", with: "512-256")
        if let found = try? DigestAlgorithm(named: plain) { return found }
        return plain.hasPrefix("sha") ? try? DigestAlgorithm(named: plain.replacing("-", with: "")) : nil
    }

    static func unknownHash(_ name: String) -> String { "the hash \(name.prefix(20)) is not supported here" }
    static func unknownCurve(_ name: String) -> String { "the curve \(name.prefix(20)) is not supported" }

    /// The outcome of a check in which every error means a refusal.
    static func outcome(_ body: () throws -> CheckOutcome) -> CheckOutcome {
        do { return try body() } catch { return .refused("\(error)") }
    }

    /// ECDSA of two numbers, as CAVP and ACVP write it.
    static func signature(
        _ key: PublicKeySource, _ hash: DigestAlgorithm, _ curve: EllipticCurve, of message: [UInt8], r: [UInt8],
        s: [UInt8]
    ) -> CasePlan {
        // A number too large for the field makes a signature too long, which is refused.
        let signature = (padded(r, to: curve.count) ?? r) + (padded(s, to: curve.count) ?? s)
        return .run(SignatureCheck(key: key, algorithm: .ecdsaFixed(hash), message: message, signature: signature))
    }

    /// A number as long as a coordinate, with any number of leading zeros in the file. Nil if it is larger.
    static func padded(_ number: [UInt8], to count: Int) -> [UInt8]? {
        let digits = Array(number.drop { $0 == 0 })
        return digits.count > count ? nil : [UInt8](repeating: 0, count: count - digits.count) + digits
    }
}

extension VectorGroup {
    /// The numbers of a Wycheproof group's key. They are in `publicKey`, or in `key` before testvectors_v1.
    func wycheproofKey() throws(UnreadableFile) -> Fields {
        try parameters.object(parameters.has("publicKey") ? "publicKey" : "key")
    }
}
