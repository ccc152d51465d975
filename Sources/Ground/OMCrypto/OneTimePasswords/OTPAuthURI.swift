// The URI in the QR code of a one-time password: otpauth://totp/ISSUER:ACCOUNT?secret=BASE32&issuer=ISSUER&…

public import OMSecrets

/// A one-time password with the names of its issuer and its account.
///
///     let uri = try OTPAuthURI(reading: text)
///     let code = try uri.password.code(at: now)
///
/// The URI is a secret: it is read from locked memory and written to locked memory.
public struct OTPAuthURI: ~Copyable, Sendable {
    /// The known parameters, by their names in the URI.
    public enum Parameter: String, CaseIterable, Hashable, Sendable {
        case secret, issuer, algorithm, digits, period, counter
    }

    public let password: OneTimePassword
    /// UTF-8. Nil if the URI does not name the issuer.
    public let issuer: SecretBytes?
    /// UTF-8. It can be empty.
    public let account: SecretBytes

    public static let maximumCount = 16 << 10
    /// What authenticator apps show.
    public static let digitRange = 6...8

    private init(_ password: consuming OneTimePassword, _ issuer: consuming SecretBytes?, _ account: consuming SecretBytes) {
        self.password = password
        self.issuer = issuer
        self.account = account
    }

    /// - Throws: ``OneTimePasswordError/unusableLabel`` for names that are not text or have a colon, and
    ///   ``OneTimePasswordError/digitsOutOfRange``.
    public init(
        of password: consuming OneTimePassword, issuer: consuming SecretBytes?, account: consuming SecretBytes
    ) throws(OneTimePasswordError) {
        guard Self.digitRange.contains(password.digits) else { throw .digitsOutOfRange }
        guard Self.isName(account), account.withBytes({ Self.colon(in: $0) }) == nil else { throw .unusableLabel }
        switch issuer {
        case .some(let issuer):
            guard Self.isName(issuer), issuer.withBytes({ Self.colon(in: $0) }) == nil else { throw .unusableLabel }
        case .none: break
        }
        self.init(password, issuer, account)
    }
}

// MARK: - Reading

extension OTPAuthURI {
    /// Reads a URI, strictly: unknown types, doubled parameters and numbers out of range are refused. Of a secret, lower case
    /// and missing padding are accepted, as in authenticator apps.
    public init(reading text: borrowing SecretBytes) throws(OneTimePasswordError) {
        guard text.count <= Self.maximumCount else { throw .tooLong }
        self = try text.withBytes { (text: Span<UInt8>) throws(OneTimePasswordError) in try OTPAuthURI(parsing: text) }
    }

    /// Reads a URI, or the bare secret in base32 that a site shows beside its QR code. Such a secret has the usual settings:
    /// 6 digits, 30 seconds, SHA-1.
    public init(readingURIOrSecret text: borrowing SecretBytes) throws(OneTimePasswordError) {
        guard text.count <= Self.maximumCount else { throw .tooLong }
        guard text.withBytes({ Self.colon(in: $0) }) == nil else {
            self = try OTPAuthURI(reading: text)
            return
        }
        let password = try OneTimePassword(secret: Self.secret(readingBase32: text))
        self.init(password, nil, SecretBytes(copying: []))
    }

    private init(parsing text: Span<UInt8>) throws(OneTimePasswordError) {
        let parts = try OTPAuthParts(text)
        func value(_ parameter: Parameter) throws(OneTimePasswordError) -> SecretBytes? {
            guard let part = parts.values[parameter] else { return nil }
            return try OTPAuthParts.decoded(part, of: text)
        }
        func number(_ parameter: Parameter, or fault: OneTimePasswordError) throws(OneTimePasswordError) -> UInt64? {
            guard let value = try value(parameter) else { return nil }
            guard let number = Self.number(value) else { throw fault }
            return number
        }
        func name(_ part: Range<Int>) throws(OneTimePasswordError) -> SecretBytes {
            let name = try OTPAuthParts.decoded(part, of: text)
            guard Self.isName(name) else { throw .unusableLabel }
            return name
        }
        guard let encoded = try value(.secret) else { throw .missing(.secret) }
        let secret = try Self.secret(readingBase32: encoded)
        var hash = OneTimePassword.Hash.sha1
        if let name = try value(.algorithm) { hash = try Self.hash(name) }
        let digits = try number(.digits, or: .digitsOutOfRange) ?? 6
        guard let digits = Int(exactly: digits), Self.digitRange.contains(digits) else { throw .digitsOutOfRange }
        let factor: OneTimePassword.Factor
        if parts.isTimed {
            factor = .time(period: try number(.period, or: .periodOutOfRange) ?? 30)
        } else {
            guard let counter = try number(.counter, or: .counterOutOfRange) else { throw .missing(.counter) }
            factor = .counter(counter)
        }
        let label = try name(parts.label)
        let colon = label.withBytes { Self.colon(in: $0) }
        let account = label.withBytes { label in
            var start = colon.map { $0 + 1 } ?? 0
            while colon != nil, start < label.count, label[start] == UInt8(ascii: " ") { start += 1 }
            return SecretBytes(copying: label.extracting(start..<label.count))
        }
        let password = try OneTimePassword(secret: secret, hash: hash, digits: digits, factor: factor)
        if let part = parts.values[.issuer] {
            self.init(password, try name(part), account)
        } else if let colon {
            self.init(password, label.withBytes { SecretBytes(copying: $0.extracting(0..<colon)) }, account)
        } else {
            self.init(password, nil, account)
        }
    }

    /// The bytes of a secret: base32 in either case, with or without its padding, and with blanks or dashes between its groups.
    ///
    /// A secret that was cut is refused: mostly the length is wrong, or bits are left that no byte takes.
    ///
    /// - Throws: ``OneTimePasswordError/secretNotBase32``, ``OneTimePasswordError/emptySecret``.
    public static func secret(readingBase32 text: borrowing SecretBytes) throws(OneTimePasswordError) -> SecretBytes {
        var digits = SecretBuffer(capacity: text.count)
        var isPadded = false
        text.withBytes { text in
            for index in text.indices where text[index] != UInt8(ascii: " ") && text[index] != UInt8(ascii: "-") {
                let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index])
                digits.append(isLower ? text[index] & 0xDF : text[index])
                if text[index] == UInt8(ascii: "=") { isPadded = true }
            }
        }
        let decoded: SecretBytes
        do throws(SecretsError) { decoded = try Base32.decode(digits.finish(), isPadded ? .padded : .unpadded) } catch {
            throw .secretNotBase32
        }
        guard decoded.count > 0 else { throw .emptySecret }
        return decoded
    }

    private static func hash(_ name: borrowing SecretBytes) throws(OneTimePasswordError) -> OneTimePassword.Hash {
        let found = name.withBytes { name in
            OneTimePassword.Hash.allCases.first { hash in
                name.count == hash.rawValue.utf8.count && OTPAuthParts.hasPrefix(name, Array(hash.rawValue.utf8), from: 0)
            }
        }
        guard let found else { throw .unknownHash }
        return found
    }

    private static func number(_ text: borrowing SecretBytes) -> UInt64? {
        text.withBytes { text in
            guard (1...20).contains(text.count) else { return nil }
            var number: UInt64 = 0
            for index in text.indices {
                guard (0x30...0x39).contains(text[index]) else { return nil }
                let (tens, isTooBig) = number.multipliedReportingOverflow(by: 10)
                let (sum, isTooBigNow) = tens.addingReportingOverflow(UInt64(text[index] - 0x30))
                guard !isTooBig, !isTooBigNow else { return nil }
                number = sum
            }
            return number
        }
    }

    private static func colon(in text: Span<UInt8>) -> Int? { text.indices.first { text[$0] == UInt8(ascii: ":") } }

    /// UTF-8 without control characters.
    private static func isName(_ name: borrowing SecretBytes) -> Bool {
        name.withBytes { name in
            name.indices.allSatisfy { name[$0] >= 0x20 && name[$0] != 0x7F } && (try? UTF8Span(validating: name)) != nil
        }
    }
}
