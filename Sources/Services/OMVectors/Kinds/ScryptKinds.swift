internal import OMCrypto
internal import OMSecrets

struct ScryptCheck: VectorCheck {
    let password: [UInt8]
    let salt: [UInt8]
    let cost: Int
    let blockSize: Int
    let parallelism: Int
    let output: [UInt8]

    func run() -> CheckOutcome {
        do throws(CryptoError) {
            let derived = try KeyDerivation.scrypt(
                SecretBytes(copying: password), salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism,
                count: output.count)
            return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
        } catch { return .refused("\(error)") }
    }
}

enum ScryptKinds {
    static let all = [native, text]

    private static let native = VectorKind.native(
        "scrypt", params: [], test: ["password", "salt", "n", "r", "p", "size", "out"]
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["password", "salt", "out"]) { (test, expectation) throws(UnreadableFile) in
            let output = try test.bytes("out")
            guard output.count == (try test.number("size")) || expectation == .invalid else {
                throw test.wrong("out", "as long as size says")
            }
            return plan(
                password: try test.bytes("password"), salt: try test.bytes("salt"), cost: try test.number("n"),
                blockSize: try test.number("r"), parallelism: try test.number("p"), output: output)
        }
    }

    /// RFC 7914's vectors, from Python's `cryptography`.
    private static let text = VectorKind.text(
        TextLayout(
            name: "scrypt",
            matches: { $0.startsWith(["COUNT", "PASSWORD", "SALT", "N", "r", "p", "LENGTH", "DERIVED_KEY"]) },
            shapes: ["COUNT PASSWORD SALT N r p LENGTH DERIVED_KEY"])
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["PASSWORD", "SALT", "DERIVED_KEY"]) { (record, _) throws(UnreadableFile) in
            plan(
                password: try record.plainBytes("PASSWORD"), salt: try record.plainBytes("SALT"),
                cost: try record.number("N"), blockSize: try record.number("r"), parallelism: try record.number("p"),
                output: try record.bytes("DERIVED_KEY", count: try record.number("LENGTH")))
        }
    }

    private static func plan(
        password: [UInt8], salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int, output: [UInt8]
    ) -> CasePlan {
        // Rounded up. A cost that is not a power of two is refused when the case runs.
        let logCost = Int.bitWidth - max(cost - 1, 1).leadingZeroBitCount
        let function = PasswordFunction.scrypt(logCost: logCost, blockSize: blockSize, parallelism: parallelism)
        guard Argon2Kinds.isWithinCap(function) else { return .skip("scrypt above the cap on work") }
        return .run(
            ScryptCheck(
                password: password, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism,
                output: output))
    }
}
