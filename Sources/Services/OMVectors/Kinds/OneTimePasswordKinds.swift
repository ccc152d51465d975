// HOTP (RFC 4226), TOTP (RFC 6238), and the base32 (RFC 4648) in which their secrets are written.

internal import OMCrypto
internal import OMSecrets

/// A code: computed, and found again among the codes that count.
struct OneTimePasswordCheck: VectorCheck {
    let secret: [UInt8]
    let hash: OneTimePassword.Hash
    let digits: Int
    let factor: OneTimePassword.Factor
    /// The seconds since 1970. A counted password ignores them.
    var time: UInt64 = 0
    let code: [UInt8]

    func run() -> CheckOutcome {
        do {
            let password = try OneTimePassword(
                secret: SecretBytes(copying: secret), hash: hash, digits: digits, factor: factor)
            let counter = password.counter(at: time)
            let listed = SecretBytes(copying: code)
            guard try password.code(at: time).isEqual(to: listed) else { return .differs("the code is another") }
            let found = try password.counter(of: listed, in: counter...counter)
            return found == counter ? .agrees : .differs("the code is not found again")
        } catch { return .refused("\(error)") }
    }
}

/// Base32, decoded and encoded again.
struct Base32Check: VectorCheck {
    let bytes: [UInt8]
    let text: [UInt8]

    func run() -> CheckOutcome {
        do throws(SecretsError) {
            let decoded = try Base32.decode(SecretBytes(copying: text))
            guard decoded.isEqual(to: SecretBytes(copying: bytes)) else { return .differs("the bytes are others") }
            guard Base32.encode(decoded).isEqual(to: SecretBytes(copying: text)) else { return .differs("the text is another") }
            return .agrees
        } catch { return .refused("\(error)") }
    }
}

enum OneTimePasswordKinds {
    static let all = [hotp, totp, base32]

    private static let hotp = VectorKind.native(
        "hotp", params: ["hash", "digits"], test: ["secret", "counter", "code"]
    ) { (group) throws(UnreadableFile) in
        guard let hash = try hash(of: group) else { return nil }
        let digits = try group.parameters.number("digits")
        return .each(flips: ["secret", "code"]) { (test, _) throws(UnreadableFile) in
            .run(
                OneTimePasswordCheck(
                    secret: try test.bytes("secret"), hash: hash, digits: digits,
                    factor: .counter(UInt64(try test.number("counter"))), code: Array(try test.text("code").utf8)))
        }
    }

    private static let totp = VectorKind.native(
        "totp", params: ["hash", "digits", "period"], test: ["secret", "time", "code"]
    ) { (group) throws(UnreadableFile) in
        guard let hash = try hash(of: group) else { return nil }
        let digits = try group.parameters.number("digits")
        let period = UInt64(try group.parameters.number("period"))
        return .each(flips: ["secret", "code"]) { (test, _) throws(UnreadableFile) in
            .run(
                OneTimePasswordCheck(
                    secret: try test.bytes("secret"), hash: hash, digits: digits, factor: .time(period: period),
                    time: UInt64(try test.number("time")), code: Array(try test.text("code").utf8)))
        }
    }

    private static let base32 = VectorKind.native(
        "base32", params: [], test: ["bytes", "text"]
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["bytes", "text"]) { (test, _) throws(UnreadableFile) in
            .run(Base32Check(bytes: try test.bytes("bytes"), text: Array(try test.text("text").utf8)))
        }
    }

    private static func hash(of group: VectorGroup) throws(UnreadableFile) -> OneTimePassword.Hash? {
        OneTimePassword.Hash(rawValue: try group.parameters.text("hash"))
    }
}
