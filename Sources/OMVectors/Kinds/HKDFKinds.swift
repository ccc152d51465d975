// HKDF-SHA-256 through the bedrock's own code.

internal import OMSecrets

struct HKDFCheck: Check {
    let keyMaterial: [UInt8]
    let salt: [UInt8]
    let info: [UInt8]
    let count: Int
    let output: [UInt8]

    func run() -> Outcome {
        guard count <= HKDF.maximumCount else { return .refused("more than HKDF gives") }
        let derived = HKDF.deriveBytes(
            from: SecretBytes(copying: keyMaterial), salt: salt.span, info: info, count: count)
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }
}

enum HKDFKinds {
    static let all = [wycheproof, native, text]

    private static let wycheproof = Kind.wycheproof("HkdfTest") { group in
        group.algorithm == "HKDF-SHA-256" ? json : nil
    }

    private static let native = Kind.native(
        "hkdf", params: ["hash"], test: ["ikm", "salt", "info", "size", "okm"]
    ) { (group) throws(Unreadable) in
        try group.parameters.text("hash") == "sha256" ? json : nil
    }

    private static let json = GroupPlan.each(
        flips: ["ikm", "info", "okm"]
    ) { (test, expectation) throws(Unreadable) in
        let (count, output) = (try test.number("size"), try test.bytes("okm"))
        // An invalid case lists no output; any other that lists another number of bytes contradicts itself.
        guard output.count == count || expectation == .invalid else { throw test.wrong("okm", "\(count) bytes") }
        return .run(
            HKDFCheck(
                keyMaterial: try test.bytes("ikm"), salt: try test.bytes("salt"), info: try test.bytes("info"),
                count: count, output: output))
    }

    /// RFC 5869 as Python's `cryptography` has it.
    private static let text = Kind.text(
        TextLayout(
            name: "HKDF",
            matches: { $0.startsWith(["COUNT", "Hash", "IKM", "salt", "info", "L", "PRK", "OKM"]) },
            shapes: ["COUNT Hash IKM salt info L PRK OKM"])
    ) { (group) throws(Unreadable) in
        .each(flips: ["IKM", "info", "OKM"]) { (record, _) throws(Unreadable) in
            let hash = try record.text("Hash")
            guard hash == "SHA-256" else { return .skip("HKDF with \(hash.prefix(20)) is not supported yet") }
            let count = try record.number("L")
            return .run(
                HKDFCheck(
                    keyMaterial: try record.bytes("IKM"), salt: try record.bytes("salt"),
                    info: try record.bytes("info"), count: count, output: try record.bytes("OKM", count: count)))
        }
    }
}
