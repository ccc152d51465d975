// bcrypt_pbkdf, the key derivation of OpenSSH's private key files.

internal import OMCrypto
internal import OMSecrets

struct BCryptDerivationCheck: VectorCheck {
    let password: [UInt8]
    let salt: [UInt8]
    let rounds: Int
    let output: [UInt8]

    func run() -> CheckOutcome {
        do throws(CryptoError) {
            let derived = try BCryptDerivation.derive(
                SecretBytes(copying: password), salt: salt, rounds: rounds, count: output.count)
            return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
        } catch { return .refused("\(error)") }
    }
}

enum BCryptKinds {
    /// More rounds are skipped: each takes as long as 10,000 of PBKDF2.
    private static let mostRounds = 1000

    static let all = [
        VectorKind.native(
            "kdf-bcrypt", params: [], test: ["password", "salt", "rounds", "size", "out"]
        ) { (_) throws(UnreadableFile) in
            .each(flips: ["password", "salt", "out"]) { (test, expectation) throws(UnreadableFile) in
                let output = try test.bytes("out")
                guard output.count == (try test.number("size")) || expectation == .invalid else {
                    throw test.wrong("out", "as long as size says")
                }
                let rounds = try test.number("rounds")
                guard rounds <= mostRounds else { return .skip("bcrypt_pbkdf with more than \(mostRounds) rounds") }
                return .run(
                    BCryptDerivationCheck(
                        password: try test.bytes("password"), salt: try test.bytes("salt"), rounds: rounds, output: output))
            }
        }
    ]
}
