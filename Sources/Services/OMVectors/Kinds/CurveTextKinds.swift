// The curves of FIPS 186 in CAVP's text files: signatures made and verified, keys, pairs, compressed points.

internal import OMCrypto

/// A point in its compressed form.
private struct PointCheck: VectorCheck {
    let curve: EllipticCurve
    let encoded: [UInt8]
    let point: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            try PublicKey(curve, point: encoded).rawBytes == point ? .agrees : .differs("the point is another")
        }
    }
}

/// A key pair and a signature that it made.
private struct SignedCheck: VectorCheck {
    let pair: KeyPairCheck
    let signature: any VectorCheck

    func run() -> CheckOutcome {
        let outcome = pair.run()
        return outcome == .agrees ? signature.run() : outcome
    }
}

enum CurveTextKinds {
    static let all = [sigVer, sigGen, keyValidation, keyPairs, points]

    private static let sigVer = VectorKind.text(
        TextLayout(
            name: "ECDSA SigVer", matches: { $0.startsWith(["Msg", "Qx", "Qy", "R", "S", "Result"]) },
            shapes: ["Msg Qx Qy R S Result"])
    ) { (group) throws(UnreadableFile) in
        try signatures(group, flips: ["Msg", "Qx", "Qy", "R", "S"]) { (record, curve, hash) throws(UnreadableFile) in
            try signature(record, curve, hash)
        }
    }

    /// With the private numbers (`SigGen.txt`) or without them (`.rsp`). The signatures are only verified, because ECDSA never
    /// makes the same signature twice.
    private static let sigGen = VectorKind.text(
        TextLayout(
            name: "ECDSA SigGen",
            matches: { $0.startsWith(["Msg", "d", "Qx", "Qy"]) || $0.startsWith(["Msg", "Qx", "Qy", "R", "S"]) },
            shapes: ["Msg d Qx Qy k? R S", "Msg Qx Qy R S"])
    ) { (group) throws(UnreadableFile) in
        try signatures(group, flips: ["Msg", "d", "Qx", "Qy", "R", "S"]) { (record, curve, hash) throws(UnreadableFile) in
            let signed = try signature(record, curve, hash)
            guard record.has("d"), case .run(let check) = signed else { return signed }
            return .run(SignedCheck(pair: try pair(record, curve), signature: check))
        }
    }

    private static func signatures(
        _ group: VectorGroup, flips: [String],
        _ plan: @escaping @Sendable (Fields, EllipticCurve, DigestAlgorithm) throws(UnreadableFile) -> CasePlan
    ) throws(UnreadableFile) -> GroupPlan {
        // `[P-256,SHA-256]`. In FIPS 186-2 the hash is SHA-1 and is not named.
        let words = (group.words.first ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        guard (1...2).contains(words.count) else {
            throw UnreadableFile("\(group.parameters.place): no [curve] is in force")
        }
        guard let curve = EllipticCurve(named: words[0]) else { return .skip(KeyChecks.unknownCurve(words[0])) }
        let name = words.count == 2 ? words[1] : "SHA-1"
        guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
        return .each(flips: flips) { (record, _) throws(UnreadableFile) in try plan(record, curve, hash) }
    }

    private static func signature(
        _ record: Fields, _ curve: EllipticCurve, _ hash: DigestAlgorithm
    ) throws(UnreadableFile) -> CasePlan {
        let key = PublicKeySource.coordinates(
            curve, x: try record.integerBytes("Qx"), y: try record.integerBytes("Qy"))
        return KeyChecks.signature(
            key, hash, curve, of: try record.bytes("Msg"), r: try record.integerBytes("R"),
            s: try record.integerBytes("S"))
    }

    private static func pair(_ record: Fields, _ curve: EllipticCurve) throws(UnreadableFile) -> KeyPairCheck {
        KeyPairCheck(
            curve: curve, scalar: try curve.padded(record, "d"),
            point: try [4] + curve.padded(record, "Qx") + curve.padded(record, "Qy"))
    }

    private static let keyValidation = VectorKind.text(
        TextLayout(
            name: "ECDSA PKV", matches: { $0.startsWith(["Qx", "Qy", "Result"]) }, shapes: ["Qx Qy Result"])
    ) { (group) throws(UnreadableFile) in
        let name = try group.curveName()
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        return .each(flips: ["Qx", "Qy"]) { (record, _) throws(UnreadableFile) in
            .run(
                PublicKeyCheck(
                    key: .coordinates(curve, x: try record.integerBytes("Qx"), y: try record.integerBytes("Qy"))))
        }
    }

    private static let keyPairs = VectorKind.text(
        TextLayout(
            name: "ECDSA KeyPair",
            matches: { $0.startsWith(["d", "Qx", "Qy"]) || $0.startsWith(["N", "d", "Qx", "Qy"]) },
            lasting: ["N"], shapes: ["d Qx Qy"])
    ) { (group) throws(UnreadableFile) in
        let name = try group.curveName()
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        return .each(flips: ["d", "Qx", "Qy"]) { (record, _) throws(UnreadableFile) in .run(try pair(record, curve)) }
    }

    /// Compressed points, from Python's `cryptography`.
    private static let points = VectorKind.text(
        TextLayout(
            name: "EC points", matches: { $0.startsWith(["COUNT", "CURVE", "POINT", "X", "Y"]) },
            shapes: ["COUNT CURVE POINT X Y"])
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["POINT", "X", "Y"]) { (record, _) throws(UnreadableFile) in
            let name = try record.text("CURVE").lowercased()
            guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
            let point = try [4] + curve.padded(record, "X") + curve.padded(record, "Y")
            return .run(PointCheck(curve: curve, encoded: try record.bytes("POINT"), point: point))
        }
    }
}

extension VectorGroup {
    /// The curve of `[P-256]`. In FIPS 186-4, `[B.4.2 Key Pair Generation …]` follows it.
    func curveName() throws(UnreadableFile) -> String {
        guard let name = words.first?.split(separator: ",").first else {
            throw UnreadableFile("\(parameters.place): no [curve] is in force")
        }
        return String(name)
    }
}

extension EllipticCurve {
    /// A number of the record, as long as a coordinate.
    func padded(_ record: Fields, _ name: String) throws(UnreadableFile) -> [UInt8] {
        guard let bytes = KeyChecks.padded(try record.integerBytes(name), to: count) else {
            throw record.wrong(name, "a number of the curve's length")
        }
        return bytes
    }
}
