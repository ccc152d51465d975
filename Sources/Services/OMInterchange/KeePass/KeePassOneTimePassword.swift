// One-time passwords in KeePass's entries. KeePass 2, KeePassXC and their plug-ins keep them in different fields.

internal import OMCrypto
internal import OMSecrets

enum KeePassOneTimePassword {
    private static let seed = "TOTP Seed"
    private static let settings = "TOTP Settings"
    static let uri = "otp"
    static let counterSecret = "HmacOtp-Secret"
    static let counter = "HmacOtp-Counter"

    static func isPart(_ name: String) -> Bool {
        name == uri || name == seed || name == settings || name.hasPrefix("TimeOtp-") || name.hasPrefix("HmacOtp-")
    }

    /// Makes `otpauth` addresses of the fields of one-time passwords. A field that does not fit stays as it is, concealed, and
    /// the entry gets a loss.
    static func fit(_ entry: inout ForeignEntry) {
        let names = Names(entry)
        for form in [address, seedAndSettings, timed, counted] {
            guard let (made, used) = form(entry, names) else { continue }
            let place = entry.fields.firstIndex { used.contains($0.name) } ?? entry.fields.endIndex
            entry.fields.insert(made, at: place)
            entry.fields.removeAll { $0 !== made && $0.role == .other && used.contains($0.name) }
        }
        var isWhole = true
        entry.fields = entry.fields.map { field in
            guard field.role == .other, isPart(field.name) else { return field }
            isWhole = isWhole && field.value.count == 0
            return field.isConcealed ? field : ForeignField(field.name, .other, isConcealed: true, field.value.duplicate())
        }
        if !isWhole { entry.losses.append(.member("one-time password of a kind that omvault does not have")) }
    }

    private static func hasEncoder(_ address: Span<UInt8>) -> Bool {
        KeePassText.contains(address, anyOf: ["?ENCODER="]) || KeePassText.contains(address, anyOf: ["&ENCODER="])
    }

    /// The label of an address that is made here.
    private struct Names {
        var issuer: [UInt8]?
        var account: [UInt8] = []

        init(_ entry: ForeignEntry) {
            let title = Array(entry.title.utf8)
            if Self.fits(title), !title.isEmpty { issuer = title }
            guard let field = entry.fields.first(where: { $0.role == .username }) else { return }
            let name = field.value.withBytes { [UInt8](copying: $0) }
            if Self.fits(name) { account = name }
        }

        private static func fits(_ name: [UInt8]) -> Bool {
            name.count <= 256 && name.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
                && String(validating: name, as: UTF8.self) != nil
        }

        func field(_ password: consuming OneTimePassword) -> ForeignField? {
            let issuer: SecretBytes? = if let issuer { SecretBytes(copying: issuer) } else { nil }
            guard let uri = try? OTPAuthURI(of: password, issuer: issuer, account: SecretBytes(copying: account)) else {
                return nil
            }
            return ForeignField("otp", .otp, isConcealed: true, uri.text())
        }
    }

    private typealias Made = (field: ForeignField, used: [String])

    /// `otp`: an address, or `key=BASE32&step=30&size=6`.
    private static func address(_ entry: ForeignEntry, _ names: Names) -> Made? {
        guard let field = only(uri, entry) else { return nil }
        // Steam's codes have letters, also where the address has 6 digits.
        guard !field.value.withBytes({ hasEncoder($0) }) else { return nil }
        if (try? OTPAuthURI(reading: field.value)) != nil {
            return (ForeignField(uri, .otp, isConcealed: true, field.value.duplicate()), [uri])
        }
        guard let text = text(field), text.hasPrefix("key=") || text.contains("&key=") else { return nil }
        var (secret, period, digits, hash) = ("", UInt64(30), 6, OneTimePassword.Hash.sha1)
        for pair in text.split(separator: "&") {
            guard let equals = pair.firstIndex(of: "=") else { return nil }
            let value = pair[pair.index(after: equals)...]
            switch pair[..<equals] {
            case "key": secret = value.split(separator: "%3D").joined(separator: "=")
            case "step":
                guard let number = UInt64(value) else { return nil }
                period = number
            case "size":
                guard let number = Int(value) else { return nil }
                digits = number
            case "otpHashMode":
                guard let known = OneTimePassword.Hash(rawValue: value.lowercased()) else { return nil }
                hash = known
            default: return nil
            }
        }
        let key = SecretBytes(copying: Array(secret.utf8))
        guard let bytes = try? OTPAuthURI.secret(readingBase32: key) else { return nil }
        return made(bytes, hash: hash, digits: digits, factor: .time(period: period), names: names, used: [uri])
    }

    /// KeePassXC before 2.4, and the plug-in TrayTOTP: base32, and `30;6`. Steam's codes have letters: `30;S` is left.
    private static func seedAndSettings(_ entry: ForeignEntry, _ names: Names) -> Made? {
        guard let field = only(seed, entry), let secret = try? OTPAuthURI.secret(readingBase32: field.value) else { return nil }
        var (period, digits) = (UInt64(30), 6)
        if let setting = only(settings, entry) {
            let parts = (text(setting) ?? "").split(separator: ";", omittingEmptySubsequences: false)
            guard parts.count >= 2, let step = UInt64(parts[0]), let length = Int(parts[1]) else { return nil }
            (period, digits) = (step, length)
        } else if entry.fields.contains(where: { $0.name == settings }) {
            return nil
        }
        return made(
            secret, hash: .sha1, digits: digits, factor: .time(period: period), names: names, used: [seed, settings])
    }

    /// KeePass 2.47 and later: `TimeOtp-Secret-Base32` and others.
    private static func timed(_ entry: ForeignEntry, _ names: Names) -> Made? {
        guard let secret = secret("TimeOtp-Secret", entry) else { return nil }
        var (period, digits, hash) = (UInt64(30), 6, OneTimePassword.Hash.sha1)
        var used = [secret.name]
        /// Nil for a setting that the entry does not have.
        func setting(_ name: String) -> String? {
            guard let field = only(name, entry) else { return nil }
            used.append(name)
            return text(field) ?? ""
        }
        if let length = setting("TimeOtp-Length") {
            guard let number = Int(length) else { return nil }
            digits = number
        }
        if let step = setting("TimeOtp-Period") {
            guard let number = UInt64(step) else { return nil }
            period = number
        }
        switch setting("TimeOtp-Algorithm") {
        case nil, "HMAC-SHA-1": break
        case "HMAC-SHA-256": hash = .sha256
        case "HMAC-SHA-512": hash = .sha512
        default: return nil
        }
        return made(
            secret.value, hash: hash, digits: digits, factor: .time(period: period), names: names, used: used)
    }

    private static func counted(_ entry: ForeignEntry, _ names: Names) -> Made? {
        guard let secret = secret(counterSecret, entry), let field = only(counter, entry),
            let counter = text(field).flatMap({ UInt64($0) })
        else { return nil }
        return made(
            secret.value, hash: .sha1, digits: 6, factor: .counter(counter), names: names,
            used: [secret.name, self.counter])
    }

    /// The secret under one of its four names, as bytes. Nil if the entry has two.
    private static func secret(_ prefix: String, _ entry: ForeignEntry) -> ForeignField? {
        let found = entry.fields.filter { $0.role == .other && $0.name.hasPrefix(prefix) }
        guard found.count == 1, let field = found.first else { return nil }
        func named(_ secret: consuming SecretBytes) -> ForeignField {
            ForeignField(field.name, .other, isConcealed: true, secret)
        }
        switch field.name.dropFirst(prefix.count) {
        case "": return field
        case "-Hex": if let secret = try? Hex.decode(field.value) { return named(secret) }
        case "-Base32": if let secret = try? OTPAuthURI.secret(readingBase32: field.value) { return named(secret) }
        case "-Base64": if let secret = try? Base64.decode(field.value) { return named(secret) }
        default: break
        }
        return nil
    }

    private static func made(
        _ secret: borrowing SecretBytes, hash: OneTimePassword.Hash, digits: Int, factor: OneTimePassword.Factor, names: Names,
        used: [String]
    ) -> Made? {
        guard let password = try? OneTimePassword(secret: secret.duplicate(), hash: hash, digits: digits, factor: factor),
            let field = names.field(password)
        else { return nil }
        return (field, used)
    }

    /// The field of this name, if there is exactly one.
    private static func only(_ name: String, _ entry: ForeignEntry) -> ForeignField? {
        let found = entry.fields.filter { $0.role == .other && $0.name == name }
        return found.count == 1 ? found[0] : nil
    }

    private static func text(_ field: ForeignField) -> String? {
        field.value.withBytes { $0.count <= 512 ? KeePassText.string($0) : nil }
    }
}
