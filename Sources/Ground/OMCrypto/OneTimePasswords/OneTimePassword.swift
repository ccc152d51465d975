// One-time passwords: HOTP (RFC 4226), counted, and TOTP (RFC 6238), timed.

public import OMSecrets

/// The secret of one-time passwords with its settings. It computes codes and checks them.
///
///     let password = try OneTimePassword(secret: secret)
///     let code = try password.code(at: 1_795_000_000)
///
/// A code is a secret too while it is valid.
public struct OneTimePassword: ~Copyable, Sendable {
    /// The hash function of the HMAC. RFC 6238 names these three. HMAC does not need a hash without collisions, so SHA-1 is
    /// good enough here. It is also the only hash that all authenticator apps support.
    public enum Hash: String, CaseIterable, Hashable, Sendable {
        case sha1, sha256, sha512

        var algorithm: DigestAlgorithm {
            switch self {
            case .sha1: .insecureSHA1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// What changes the code, the RFCs' "moving factor".
    public enum Factor: Hashable, Sendable {
        /// The time, in steps of so many seconds since 1970.
        case time(period: UInt64)
        /// A counter, here the one of the next code.
        case counter(UInt64)
    }

    public let secret: SecretBytes
    public let hash: Hash
    public let digits: Int
    public let factor: Factor

    /// Ten digits show the whole number that RFC 4226 cuts. URIs and apps have 6 to 8.
    public static let digitRange = 6...10
    /// In seconds, at most a day.
    public static let periodRange: ClosedRange<UInt64> = 1...86_400

    /// - Throws: ``OneTimePasswordError/emptySecret``, ``OneTimePasswordError/digitsOutOfRange``,
    ///   ``OneTimePasswordError/periodOutOfRange``.
    public init(
        secret: consuming SecretBytes, hash: Hash = .sha1, digits: Int = 6, factor: Factor = .time(period: 30)
    ) throws(OneTimePasswordError) {
        guard secret.count > 0 else { throw .emptySecret }
        guard Self.digitRange.contains(digits) else { throw .digitsOutOfRange }
        if case .time(let period) = factor, !Self.periodRange.contains(period) { throw .periodOutOfRange }
        (self.hash, self.digits, self.factor) = (hash, digits, factor)
        self.secret = secret
    }
}

extension OneTimePassword {
    /// The code of a counter.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without the hash.
    public borrowing func code(counter: UInt64) throws(CryptoError) -> SecretBytes {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        let tag = try HMAC.tag(of: message.span, hash.algorithm, key: secret)
        let digits = digits
        // RFC 4226 section 5.3: the last four bits say where the number begins. Its sign bit is left out.
        return tag.withBytes { tag in
            let start = Int(tag[tag.count - 1] & 15)
            var number = (0..<4).reduce(0 as UInt32) { $0 << 8 | UInt32(tag[start + $1]) } & 0x7FFF_FFFF
            return SecretBytes(count: digits) { code in
                for position in code.indices.reversed() {
                    code[position] = UInt8(ascii: "0") + UInt8(number % 10)
                    number /= 10
                }
            }
        }
    }

    /// The code of a moment, in seconds since 1970. A counted password ignores the moment.
    public borrowing func code(at seconds: UInt64) throws(CryptoError) -> SecretBytes {
        try code(counter: counter(at: seconds))
    }

    /// The number of whole periods since 1970, or the present counter.
    public borrowing func counter(at seconds: UInt64) -> UInt64 {
        switch factor {
        case .time(let period): seconds / period
        case .counter(let counter): counter
        }
    }

    /// Seconds until the code of a moment ends. Nil for a counted password.
    public borrowing func secondsLeft(at seconds: UInt64) -> UInt64? {
        switch factor {
        case .time(let period): period - seconds % period
        case .counter: nil
        }
    }
}

extension OneTimePassword {
    /// How far a counter of RFC 4226 may be ahead: the user has asked for codes and not used them.
    public static let lookAhead: UInt64 = 10

    /// The counters whose codes count at a moment: one step earlier and later (RFC 6238 section 5.2), or the next
    /// ``lookAhead`` (RFC 4226 section 7.4).
    public borrowing func window(at seconds: UInt64) -> ClosedRange<UInt64> {
        let counter = counter(at: seconds)
        switch factor {
        case .time: return counter - min(1, counter)...counter + min(1, UInt64.max - counter)
        case .counter: return counter...counter + min(Self.lookAhead - 1, UInt64.max - counter)
        }
    }

    /// The first counter of the window that has this code. Nil if none has.
    ///
    /// A server accepts each counter once. It keeps the counter that was found, and asks for a later one the next time.
    ///
    /// - Parameter window: At most 1000 counters. Each further one makes guessing easier.
    public borrowing func counter(
        of code: borrowing SecretBytes, in window: ClosedRange<UInt64>
    ) throws(CryptoError) -> UInt64? {
        precondition(window.upperBound - window.lowerBound < 1000, "the window is too wide")
        var found: UInt64?
        for counter in window {
            let isSame = try self.code(counter: counter).isEqual(to: code)
            // Attack: the time of the answer tells how far the user's clock or counter is off. So the search goes on to the end.
            if isSame, found == nil { found = counter }
        }
        return found
    }
}
