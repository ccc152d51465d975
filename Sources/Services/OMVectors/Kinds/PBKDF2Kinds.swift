internal import OMCrypto
internal import OMSecrets

struct PBKDF2Check: VectorCheck {
    let algorithm: DigestAlgorithm
    let password: [UInt8]
    let salt: [UInt8]
    let iterations: Int
    let output: [UInt8]

    func run() -> CheckOutcome {
        do throws(CryptoError) {
            let derived = try KeyDerivation.pbkdf2(
                algorithm, SecretBytes(copying: password), salt: salt, iterations: iterations, count: output.count)
            return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
        } catch { return .refused("\(error)") }
    }
}

enum PBKDF2Kinds {
    static let all = [wycheproof, native, acvp, text]

    /// RFC 6070 has up to 2^24 iterations. A case with more than twice as many is skipped.
    private static let mostIterations = 1 << 25

    private static let wycheproof = VectorKind.wycheproof("PbkdfTest") { group in
        guard group.algorithm.hasPrefix("PBKDF2-HMAC") else { return nil }
        return (try? DigestAlgorithm(named: String(group.algorithm.dropFirst(11)))).map { algorithm in
            .each(flips: ["password", "salt", "dk"]) { (test, _) throws(UnreadableFile) in
                plan(
                    algorithm, password: try test.bytes("password"), salt: try test.bytes("salt"),
                    iterations: try test.number("iterationCount"),
                    output: try test.bytes("dk", count: try test.number("dkLen")))
            }
        }
    }

    private static let native = VectorKind.native(
        "pbkdf2", params: ["hash"], test: ["password", "salt", "iterations", "size", "out"]
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = try? DigestAlgorithm(named: try group.parameters.text("hash")) else { return nil }
        return .each(flips: ["password", "salt", "out"]) { (test, expectation) throws(UnreadableFile) in
            let output = try test.bytes("out")
            guard output.count == (try test.number("size")) || expectation == .invalid else {
                throw test.wrong("out", "as long as size says")
            }
            return plan(
                algorithm, password: try test.bytes("password"), salt: try test.bytes("salt"),
                iterations: try test.number("iterations"), output: output)
        }
    }

    /// The password is text.
    private static let acvp = VectorKind.acvp(["PBKDF"]) { (group) throws(UnreadableFile) in
        guard group.type == "AFT" else { return .skip("ACVP test type \(group.type.prefix(20))") }
        let name = try group.parameters.text("hmacAlg")
        guard let algorithm = try? DigestAlgorithm(named: name) else {
            return .skip("PBKDF2 with \(name.prefix(20)) is not supported")
        }
        return .each(flips: ["password", "salt", "derivedKey"]) { (test, _) throws(UnreadableFile) in
            let bits = try test.number("keyLen")
            guard bits % 8 == 0 else { return .skip("keys of part of a byte are not supported") }
            return plan(
                algorithm, password: Array(try test.text("password").utf8), salt: try test.bytes("salt"),
                iterations: try test.number("iterationCount"),
                output: try test.bytes("derivedKey", count: bits / 8))
        }
    }

    /// RFC 6070's vectors, from Python's `cryptography`. The comment, or else the file's name, names the hash function.
    private static let text = VectorKind.text(
        TextLayout(
            name: "PBKDF2",
            matches: { $0.startsWith(["COUNT", "PASSWORD", "SALT", "ITERATIONS", "LENGTH", "DERIVED_KEY"]) },
            shapes: ["COUNT PASSWORD SALT ITERATIONS LENGTH DERIVED_KEY"])
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = group.head.flatMap(named) else {
            return .skip("PBKDF2 with a hash function that neither the comments nor the file's name tell")
        }
        return .each(flips: ["PASSWORD", "SALT", "DERIVED_KEY"]) { (record, _) throws(UnreadableFile) in
            plan(
                algorithm, password: try record.plainBytes("PASSWORD"), salt: try record.plainBytes("SALT"),
                iterations: try record.number("ITERATIONS"),
                output: try record.bytes("DERIVED_KEY", count: try record.number("LENGTH")))
        }
    }

    private static func named(_ head: TextHeader) -> DigestAlgorithm? {
        let words = head.comments.flatMap { $0.split(separator: " ") }
        let parts = head.fileName.split(separator: ".").first?.split(separator: "-") ?? []
        for word in words + parts {
            if word.uppercased().hasPrefix("SHA"), let known = try? DigestAlgorithm(named: String(word)) {
                return known
            }
        }
        return nil
    }

    private static func plan(
        _ algorithm: DigestAlgorithm, password: [UInt8], salt: [UInt8], iterations: Int, output: [UInt8]
    ) -> CasePlan {
        guard iterations <= mostIterations else { return .skip("PBKDF2 above the cap on work") }
        return .run(
            PBKDF2Check(
                algorithm: algorithm, password: password, salt: salt, iterations: iterations, output: output))
    }
}
