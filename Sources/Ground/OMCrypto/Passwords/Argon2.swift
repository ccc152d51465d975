// Argon2 (RFC 9106) in all its types, with lanes, a secret and associated data, over libargon2. omvault's own logins and
// vaults use the bedrock's Argon2id, which is faster and has one lane.

internal import CArgon2
internal import Glibc
public import OMSecrets

public enum Argon2 {
    public enum Variant: String, CaseIterable, Hashable, Sendable {
        /// The password decides which memory it reads. It is the strongest against search, but an attacker who watches the
        /// cache can learn about the password.
        case argon2d
        /// The opposite of argon2d.
        case argon2i
        /// Half a pass of argon2i, then argon2d. The recommended variant.
        case argon2id
    }

    /// The version of the function.
    public enum Version: Int, Hashable, Sendable {
        /// 1.0, before the RFC. Only to read old strings.
        case v16 = 16
        /// 1.3, RFC 9106.
        case v19 = 19
    }

    /// Work factors.
    public struct Parameters: Hashable, Sendable {
        /// Memory in KiB, 8 or more for each lane.
        public var memoryKiB: Int
        /// Passes over the memory, 1 or more.
        public var passes: Int
        /// Lanes that can be computed at once, 1 to 2^24 − 1.
        public var lanes: Int

        public init(memoryKiB: Int, passes: Int, lanes: Int) {
            (self.memoryKiB, self.passes, self.lanes) = (memoryKiB, passes, lanes)
        }

        /// 64 MiB, 3 passes, 1 lane.
        public static let standard = Parameters(memoryKiB: 64 << 10, passes: 3, lanes: 1)
    }
}

extension KeyDerivation {
    /// Argon2.
    ///
    /// - Parameters:
    ///   - salt: 8 bytes or more.
    ///   - secret: A key that is kept apart from the hashes (RFC 9106's K), or nothing.
    ///   - associatedData: The data that the result is bound to (RFC 9106's X), or nothing.
    ///   - count: 4 bytes to 1 MiB.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/outOfMemory``.
    public static func argon2(
        _ variant: Argon2.Variant, _ password: borrowing SecretBytes, salt: [UInt8], _ parameters: Argon2.Parameters,
        secret: borrowing SecretBytes = SecretBytes(copying: []), associatedData: [UInt8] = [], count: Int,
        version: Argon2.Version = .v19
    ) throws(CryptoError) -> SecretBytes {
        guard (1...0xFF_FFFF).contains(parameters.lanes), (1...Int(UInt32.max)).contains(parameters.passes),
            (8 * parameters.lanes...Int(UInt32.max)).contains(parameters.memoryKiB), salt.count >= 8,
            (4...longestOutput).contains(count), salt.count <= 1 << 30, associatedData.count <= 1 << 30,
            password.count <= 1 << 30, secret.count <= 1 << 30
        else { throw .parameterOutOfRange }
        var context = argon2_context()
        context.t_cost = UInt32(parameters.passes)
        context.m_cost = UInt32(parameters.memoryKiB)
        context.lanes = UInt32(parameters.lanes)
        // A lane below 1 MiB fills faster than a thread starts, and libargon2 starts a thread for it four times a pass.
        let isWorthThreads = parameters.memoryKiB / parameters.lanes >= 1 << 10
        let processors = isWorthThreads ? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) : 1
        context.threads = UInt32(min(parameters.lanes, processors))
        context.version = UInt32(version.rawValue)
        var status: Int32 = 0
        let output = SecretBytes(count: count) { target in
            status = unsafe target.withPointer { out, count in
                (context.out, context.outlen) = (out, UInt32(count))
                return run(
                    variant, &context, password: password, salt: salt, secret: secret, associatedData: associatedData)
            }
        }
        guard status == 0 else { throw .outOfMemory }
        return output
    }

    /// libargon2 declares its inputs as mutable; without flags it does not change them.
    private static func run(
        _ variant: Argon2.Variant, _ context: inout argon2_context, password: borrowing SecretBytes, salt: [UInt8],
        secret: borrowing SecretBytes, associatedData: [UInt8]
    ) -> Int32 {
        password.withBytes { password in
            secret.withBytes { secret in
                unsafe password.withPointer { password, passwordCount in
                    unsafe secret.withPointer { secret, secretCount in
                        unsafe salt.span.withPointer { salt, saltCount in
                            unsafe associatedData.span.withPointer { data, dataCount in
                                context.pwd = UnsafeMutablePointer(mutating: password)
                                context.pwdlen = UInt32(passwordCount)
                                context.secret = UnsafeMutablePointer(mutating: secret)
                                context.secretlen = UInt32(secretCount)
                                context.salt = UnsafeMutablePointer(mutating: salt)
                                context.saltlen = UInt32(saltCount)
                                context.ad = UnsafeMutablePointer(mutating: data)
                                context.adlen = UInt32(dataCount)
                                return argon2_ctx(&context, variant.type)
                            }
                        }
                    }
                }
            }
        }
    }
}

extension Argon2.Variant {
    fileprivate var type: argon2_type {
        switch self {
        case .argon2d: Argon2_d
        case .argon2i: Argon2_i
        case .argon2id: Argon2_id
        }
    }
}
