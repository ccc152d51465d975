// `{name}` strings of the SDKs and of LDAP, each with a password.

internal import OMCrypto
internal import OMSecrets

struct StoredHashCheck: VectorCheck {
    let stored: String
    let password: [UInt8]
    /// Whether ``SaltedHash`` writes such strings. Then it must write exactly this string.
    let isWritten: Bool

    func run() -> CheckOutcome {
        let secret = SecretBytes(copying: password)
        do {
            let hash = try StoredHash(parsing: stored)
            guard try hash.matches(secret) else { return .refused("the password does not verify") }
            guard isWritten else { return .agrees }
            let salt = hash.salt.isEmpty ? nil : String(decoding: hash.salt, as: UTF8.self)
            let written = try SaltedHash.string(of: secret, algorithm: hash.algorithm, saltHex: salt)
            return written.isEqual(to: SecretBytes(copying: Array(stored.utf8)))
                ? .agrees : .differs("the string that is written is another")
        } catch {
            return .refused("\(error)")
        }
    }
}

enum StoredHashKinds {
    static let all = [
        VectorKind.native(
            "saltedhash", params: ["scheme", "layout", "saltForm"], test: ["stored", "passwordHex"]
        ) { (group) throws(UnreadableFile) in
            // Only the iOS SDK's strings are also written. The others can have any salt.
            let form = group.parameters.has("saltForm") ? try group.parameters.text("saltForm") : ""
            return .each(flips: ["passwordHex", "stored"]) { (test, expectation) throws(UnreadableFile) in
                .run(
                    StoredHashCheck(
                        stored: try test.text("stored"), password: try test.bytes("passwordHex"),
                        isWritten: form.contains("hex") && expectation == .valid))
            }
        }
    ]
}
