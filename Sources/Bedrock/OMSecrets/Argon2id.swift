// Keys from passwords: slow on purpose, and within bounds.
// Argon2id version 1.3, RFC 9106, through libsodium.

internal import CSodium

public enum Argon2id {
    public static let saltCount = 16

    /// Work factors, always inside the bounds. A file that asks for 4 TiB is refused before any memory is allocated.
    public struct Parameters: Hashable, Sendable {
        /// Memory in KiB: 8 MiB to 1 GiB.
        public let memoryKiB: UInt32
        /// Passes: 1 to 16.
        public let passes: UInt32
        /// Lanes: 1 to 4 can be read, but this build computes 1 only.
        public let lanes: UInt32

        /// - Throws: ``SecretsError/stretchOutOfBounds``.
        public init(memoryKiB: UInt32, passes: UInt32, lanes: UInt32 = 1) throws(SecretsError) {
            guard (8 << 10...1 << 20).contains(memoryKiB), (1...16).contains(passes), (1...4).contains(lanes) else {
                throw .stretchOutOfBounds
            }
            (self.memoryKiB, self.passes, self.lanes) = (memoryKiB, passes, lanes)
        }

        /// How many KiB all passes fill together.
        package var work: Int { Int(memoryKiB) * Int(passes) }

        private init(checked memoryKiB: UInt32, _ passes: UInt32) {
            (self.memoryKiB, self.passes, lanes) = (memoryKiB, passes, 1)
        }

        /// 64 MiB, 3 passes: the setting of a new vault or login.
        public static let standard = Parameters(checked: 64 << 10, 3)
        /// 8 MiB, 1 pass: the weakest setting that is accepted.
        public static let floor = Parameters(checked: 8 << 10, 1)
    }

    /// The most work that a file from elsewhere gets without a second question: 1 GiB, filled 4 times. It takes some seconds.
    package static let mostWork = 4 << 20

    /// Stretches `secret` to a key, after waiting its turn: the machine computes only a few stretches at a time.
    ///
    /// - Parameter salt: 16 bytes.
    /// - Throws: ``SecretsError/outOfMemory``, ``SecretsError/lanesUnsupported``.
    public static func stretch(
        _ secret: borrowing SecretBytes, salt: [UInt8], _ parameters: Parameters
    ) throws(SecretsError) -> Key<Unlocking> {
        precondition(salt.count == saltCount, "Argon2id takes a salt of 16 bytes here")
        return try StretchPermit.hold { () throws(SecretsError) in
            Key<Unlocking>(try deriveRaw(secret, salt: salt, parameters, count: Key<Unlocking>.count))
        }
    }

    /// The bare function within the bounds, without a permit.
    package static func deriveRaw(
        _ secret: borrowing SecretBytes, salt: [UInt8], _ parameters: Parameters, count: Int
    ) throws(SecretsError) -> SecretBytes {
        guard parameters.lanes == 1 else { throw .lanesUnsupported }
        return try deriveRaw(
            secret, salt: salt, memoryKiB: parameters.memoryKiB, passes: parameters.passes, count: count)
    }

    /// The bare function for test vectors: one lane, no permit. To be quick, vectors stay below the minimum of
    /// ``Parameters``.
    ///
    /// - Parameters:
    ///   - salt: 16 bytes.
    ///   - memoryKiB: 8 KiB to 1 GiB. The caller enforces the upper bound.
    ///   - count: At least 16 bytes.
    package static func deriveRaw(
        _ secret: borrowing SecretBytes, salt: [UInt8], memoryKiB: UInt32, passes: UInt32, count: Int
    ) throws(SecretsError) -> SecretBytes {
        precondition(salt.count == saltCount && count >= 16, "libsodium takes a salt of 16 bytes and gives 16 or more")
        return try secret.withBytes { (secret: Span<UInt8>) throws(SecretsError) in
            try SecretBytes(count: count) { (target) throws(SecretsError) in
                let result = unsafe target.withPointer { target, _ in
                    unsafe secret.withPointer { secret, secretCount in
                        unsafe crypto_pwhash(
                            target, UInt64(count), secret.asText, UInt64(secretCount), salt,
                            UInt64(passes), Int(memoryKiB) << 10, crypto_pwhash_ALG_ARGON2ID13)
                    }
                }
                // The input is within libsodium's bounds, so it can only fail for lack of memory.
                guard result == 0 else { throw .outOfMemory }
            }
        }
    }

    /// Whether `encoded` is the hash of `secret`. It is a PHC string, `$argon2id$v=19$…`. This is for test vectors:
    /// they have other salt lengths and more lanes than ``deriveRaw`` takes. The caller limits the work that the string
    /// asks for.
    package static func verifyRaw(_ secret: borrowing SecretBytes, encoded: String) -> Bool {
        // C would end the string at the first NUL and ignore the rest.
        guard !encoded.utf8.contains(0) else { return false }
        return secret.withBytes { secret in
            unsafe secret.withPointer { secret, count in
                unsafe crypto_pwhash_argon2id_str_verify(encoded, secret.asText, UInt64(count)) == 0
            }
        }
    }
}
