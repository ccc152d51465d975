// HKDF with every hash function. SHA-256 also runs through the bedrock's own code, which derives omvault's keys.

internal import OMCrypto
internal import OMSecrets

struct HKDFCheck: VectorCheck {
    let algorithm: DigestAlgorithm
    let keyMaterial: [UInt8]
    let salt: [UInt8]
    let info: [UInt8]
    let count: Int
    let output: [UInt8]

    func run() -> CheckOutcome {
        let key = SecretBytes(copying: keyMaterial)
        guard let derived = try? KeyDerivation.hkdf(algorithm, key, salt: salt, info: info, count: count) else {
            return .refused("more than HKDF gives")
        }
        if algorithm == .sha256 {
            guard count <= HKDF.maximumCount else { return .differs("the bedrock's HKDF gives less") }
            let bedrock = HKDF.deriveBytes(from: key, salt: salt.span, info: info, count: count)
            guard bedrock.isEqual(to: derived) else { return .differs("the bedrock's output is not the toolkit's") }
        }
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }
}

enum HKDFKinds {
    static let all = [wycheproof, native, text, textWithoutPRK]

    private static let wycheproof = VectorKind.wycheproof("HkdfTest") { group in
        guard group.algorithm.hasPrefix("HKDF-") else { return nil }
        return (try? DigestAlgorithm(named: String(group.algorithm.dropFirst(5)))).map(json)
    }

    private static let native = VectorKind.native(
        "hkdf", params: ["hash"], test: ["ikm", "salt", "info", "size", "okm"]
    ) { (group) throws(UnreadableFile) in
        let hash = try group.parameters.text("hash")
        return (try? DigestAlgorithm(named: hash)).map(json)
    }

    private static func json(_ algorithm: DigestAlgorithm) -> GroupPlan {
        .each(flips: ["ikm", "salt", "info", "okm"]) { (test, expectation) throws(UnreadableFile) in
            let (count, output) = (try test.number("size"), try test.bytes("okm"))
            // An invalid case lists no output. Any other case with another number of bytes contradicts itself.
            guard output.count == count || expectation == .invalid else { throw test.wrong("okm", "\(count) bytes") }
            return .run(
                HKDFCheck(
                    algorithm: algorithm, keyMaterial: try test.bytes("ikm"), salt: try test.bytes("salt"),
                    info: try test.bytes("info"), count: count, output: output))
        }
    }

    /// RFC 5869's vectors, from Python's `cryptography`.
    private static let text = textKind(["COUNT", "Hash", "IKM", "salt", "info", "L", "PRK", "OKM"])
    /// The longer vector of Python's `cryptography` itself.
    private static let textWithoutPRK = textKind(["COUNT", "Hash", "IKM", "salt", "info", "L", "OKM"])

    private static func textKind(_ fields: [String]) -> VectorKind {
        VectorKind.text(
            TextLayout(
                name: "HKDF", matches: { $0.startsWith(fields) }, shapes: [fields.joined(separator: " ")])
        ) { (_) throws(UnreadableFile) in
            .each(flips: ["IKM", "salt", "info", "OKM"]) { (record, _) throws(UnreadableFile) in
                let hash = try record.text("Hash")
                guard let algorithm = try? DigestAlgorithm(named: hash) else {
                    return .skip("HKDF with \(hash.prefix(20)) is not supported")
                }
                let count = try record.number("L")
                return .run(
                    HKDFCheck(
                        algorithm: algorithm, keyMaterial: try record.bytes("IKM"), salt: try record.bytes("salt"),
                        info: try record.bytes("info"), count: count, output: try record.bytes("OKM", count: count)))
            }
        }
    }
}
