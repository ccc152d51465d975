// Stored password hashes.

internal import OMCrypto
internal import OMSecrets

/// A stored password hash and a password.
struct PasswordHashCheck: VectorCheck {
    let stored: String
    let password: [UInt8]

    func run() -> CheckOutcome {
        do throws(CryptoError) {
            let isMatch = try PasswordHash(parsing: stored).matches(SecretBytes(copying: password))
            return isMatch ? .agrees : .refused("the password does not verify")
        } catch { return .refused("\(error)") }
    }
}

enum PasswordHashKinds {
    static let all = [
        VectorKind.native("password-hash", params: ["scheme"], test: ["stored", "passwordHex"]) { (_) throws(UnreadableFile) in
            .each(flips: ["stored", "passwordHex"]) { (test, _) throws(UnreadableFile) in
                let stored = try test.text("stored")
                if let hash = try? PasswordHash(parsing: stored, limit: WorkLimit(factor: .max)) {
                    guard Argon2Kinds.isWithinCap(hash.function) else { return .skip("above the cap on work") }
                }
                return .run(PasswordHashCheck(stored: stored, password: try test.bytes("passwordHex")))
            }
        }
    ]
}
