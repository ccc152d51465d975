// Argon2 of every type, as raw output and as PHC strings. The bedrock's Argon2id must give the same output if it can compute
// a case.

internal import OMCrypto
internal import OMSecrets

struct Argon2Check: VectorCheck {
    let variant: Argon2.Variant
    let version: Argon2.Version
    let parameters: Argon2.Parameters
    let password: [UInt8]
    let salt: [UInt8]
    let secret: [UInt8]
    let associatedData: [UInt8]
    let output: [UInt8]

    func run() -> CheckOutcome {
        let password = SecretBytes(copying: password)
        let derived: SecretBytes
        do throws(CryptoError) {
            derived = try KeyDerivation.argon2(
                variant, password, salt: salt, parameters, secret: SecretBytes(copying: secret),
                associatedData: associatedData, count: output.count, version: version)
        } catch { return .refused("\(error)") }
        if isBedrocks {
            let bedrock = try? Argon2id.deriveRaw(
                password, salt: salt, memoryKiB: UInt32(parameters.memoryKiB), passes: UInt32(parameters.passes),
                count: output.count)
            guard bedrock?.isEqual(to: derived) == true else {
                return .differs("the bedrock's output is not the toolkit's")
            }
        }
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }

    /// Whether the bedrock can compute the case: one lane of Argon2id 1.3, without a secret or associated data.
    private var isBedrocks: Bool {
        variant == .argon2id && version == .v19 && parameters.lanes == 1 && secret.isEmpty && associatedData.isEmpty
            && salt.count == Argon2id.saltCount && output.count >= 16
    }
}

/// A PHC string and a password, read by the toolkit and, for Argon2id 1.3, by libsodium.
struct EncodedArgon2Check: VectorCheck {
    let encoded: String
    let password: [UInt8]
    let isInvalid: Bool

    func run() -> CheckOutcome {
        let password = SecretBytes(copying: password)
        let isToolkits = (try? PasswordHash(parsing: encoded).matches(password)) ?? false
        guard encoded.hasPrefix("$argon2id$v=19$") else {
            return isToolkits ? .agrees : .refused("the password does not verify")
        }
        let isBedrocks = Argon2id.verifyRaw(password, encoded: encoded)
        // Toolkit and bedrock must both refuse an invalid case.
        if isInvalid ? isToolkits || isBedrocks : isToolkits && isBedrocks { return .agrees }
        return isToolkits == isBedrocks
            ? .refused("the password does not verify") : .differs("toolkit and bedrock disagree")
    }
}

enum Argon2Kinds {
    static let all = [native] + Argon2.Variant.allCases.map(text)

    private static let native = VectorKind.native(
        "kdf-argon2", params: ["type", "version"],
        test: [
            "password", "salt", "secret", "ad", "iterations", "memoryKiB", "parallelism", "size", "out", "encoded",
            "passwordHex",
        ]
    ) { (group) throws(UnreadableFile) in
        let (type, number) = (try group.parameters.text("type"), try group.parameters.number("version"))
        guard let variant = Argon2.Variant(rawValue: type), let version = Argon2.Version(rawValue: number) else {
            return .skip("\(type.prefix(20)) version \(number) is not supported")
        }
        return .each(flips: ["password", "salt", "secret", "ad", "out", "passwordHex", "encoded"]) {
            (test, expectation) throws(UnreadableFile) in
            if test.has("encoded") { return try encoded(test, expectation) }
            let parameters = Argon2.Parameters(
                memoryKiB: try test.number("memoryKiB"), passes: try test.number("iterations"),
                lanes: try test.number("parallelism"))
            return try raw(
                test, variant, version: version, parameters: parameters, password: "password", output: "out",
                size: try test.number("size"))
        }
    }

    /// RFC 9106's vectors and the reference program's, from Python's `cryptography`. The file's name is the type.
    private static func text(_ variant: Argon2.Variant) -> VectorKind {
        VectorKind.text(
            TextLayout(
                name: variant.rawValue,
                matches: { head in
                    head.startsWith(["COUNT", "length", "lanes", "iter", "memcost"])
                        && head.fileName.split(separator: ".").first == Substring(variant.rawValue)
                },
                shapes: [
                    "COUNT length lanes iter memcost secret? pass salt ad? output",
                    "COUNT length lanes iter memcost salt pass output",
                ])
        ) { (_) throws(UnreadableFile) in
            .each(flips: ["pass", "salt", "secret", "ad", "output"]) { (record, _) throws(UnreadableFile) in
                let parameters = Argon2.Parameters(
                    memoryKiB: try record.number("memcost"), passes: try record.number("iter"),
                    lanes: try record.number("lanes"))
                return try raw(
                    record, variant, version: .v19, parameters: parameters, password: "pass", output: "output",
                    size: try record.number("length"))
            }
        }
    }

    private static func raw(
        _ test: Fields, _ variant: Argon2.Variant, version: Argon2.Version, parameters: Argon2.Parameters,
        password: String, output: String, size: Int
    ) throws(UnreadableFile) -> CasePlan {
        guard isWithinCap(.argon2(variant, parameters)) else { return .skip("Argon2 above the cap on work") }
        return .run(
            Argon2Check(
                variant: variant, version: version, parameters: parameters, password: try test.bytes(password),
                salt: try test.bytes("salt"), secret: test.has("secret") ? try test.bytes("secret") : [],
                associatedData: test.has("ad") ? try test.bytes("ad") : [],
                output: try test.bytes(output, count: size)))
    }

    private static func encoded(_ test: Fields, _ expectation: Expectation) throws(UnreadableFile) -> CasePlan {
        let (encoded, password) = (try test.text("encoded"), try test.bytes("passwordHex"))
        // A string that cannot be parsed is refused without any work.
        if let hash = try? PasswordHash(parsing: encoded, limit: WorkLimit(factor: .max)) {
            guard isWithinCap(hash.function) else { return .skip("Argon2 above the cap on work") }
        }
        return .run(EncodedArgon2Check(encoded: encoded, password: password, isInvalid: expectation == .invalid))
    }

    static func isWithinCap(_ function: PasswordFunction) -> Bool {
        (try? WorkLimit.standard.check(function)) != nil
    }
}
