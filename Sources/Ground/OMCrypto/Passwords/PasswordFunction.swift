// The functions that make guessing a password slow, with their work factors.

public import OMSecrets

/// A password hash function with its work factors.
public enum PasswordFunction: Hashable, Sendable {
    /// RFC 9106.
    case argon2(Argon2.Variant, Argon2.Parameters)
    /// RFC 7914, with N = 2^logCost.
    case scrypt(logCost: Int, blockSize: Int, parallelism: Int)
    /// RFC 8018 section 5.2, with HMAC.
    case pbkdf2(DigestAlgorithm, iterations: Int)
    /// 2^cost rounds, cost 4 to 31. It uses 72 bytes of a password.
    case bcrypt(cost: Int)
    /// A method of crypt(3). The cost is the rounds of SHA-crypt, 1000 to 999,999,999, or yescrypt's cost, 1 to 11.
    case crypt(CryptMethod, cost: Int)

    /// The function's family.
    public enum Family: String, CaseIterable, Hashable, Sendable {
        case argon2id, argon2i, argon2d, scrypt, pbkdf2, bcrypt, sha256crypt, sha512crypt, yescrypt
    }

    /// The function of a family with the work factors for a new hash. They take about 100 ms of one core in 2025, and are not
    /// below the minimum of the OWASP Password Storage Cheat Sheet.
    public static func standard(_ family: Family) -> PasswordFunction {
        switch family {
        case .argon2id: .argon2(.argon2id, .standard)
        case .argon2i: .argon2(.argon2i, .standard)
        case .argon2d: .argon2(.argon2d, .standard)
        case .scrypt: .scrypt(logCost: 17, blockSize: 8, parallelism: 1)
        case .pbkdf2: .pbkdf2(.sha256, iterations: 600_000)
        case .bcrypt: .bcrypt(cost: 12)
        case .sha256crypt: .crypt(.sha256crypt, cost: 500_000)
        case .sha512crypt: .crypt(.sha512crypt, cost: 500_000)
        case .yescrypt: .crypt(.yescrypt, cost: 6)
        }
    }

    /// The name at the start of the stored string, between `$` and `$`.
    public var name: String {
        switch self {
        case .argon2(let variant, _): variant.rawValue
        case .scrypt: "scrypt"
        case .pbkdf2(let algorithm, _): "pbkdf2-\(algorithm.name)"
        case .bcrypt: "2b"
        case .crypt(let method, _): method.id
        }
    }

    /// The name in a list of schemes.
    var scheme: String {
        switch self {
        case .bcrypt: "bcrypt"
        case .crypt(let method, _): method.rawValue
        case .argon2, .scrypt, .pbkdf2: name
        }
    }

    /// Whether the work is below the minimum of that cheat sheet. A caller that makes a hash with it should say so.
    public var isWeak: Bool {
        switch self {
        case .argon2(_, let parameters):
            // The minimum is 19 MiB with 2 passes, and so on down to 7 MiB with 5 passes.
            parameters.memoryKiB < 7 << 10
                || WorkLimit.product(parameters.memoryKiB, parameters.passes) < 35 << 10
        case .scrypt(let logCost, let blockSize, let parallelism):
            WorkLimit.product(
                WorkLimit.product(max(blockSize, 0), 1 << min(max(logCost, 0), 40)) / 8, parallelism) < 16 << 10
                || logCost < 13
        case .pbkdf2(let algorithm, let iterations):
            // The sheet has no minimum for MD5.
            algorithm == .insecureMD5
                || iterations < (algorithm == .insecureSHA1 ? 1_300_000 : algorithm.count >= 48 ? 210_000 : 600_000)
        case .bcrypt(let cost): cost < 10
        // The sheet does not name these. The minimum is what PBKDF2 and scrypt need, and Debian's own default of yescrypt.
        case .crypt(.yescrypt, let cost): cost < 5
        case .crypt(_, let rounds): rounds < 210_000
        }
    }
}

extension KeyDerivation {
    /// The key bytes of every function except bcrypt and those of crypt(3), which give a string and no bytes.
    ///
    /// - Parameters:
    ///   - secret: Argon2's K.
    ///   - associatedData: Argon2's X.
    /// - Throws: ``CryptoError/noSuchForm`` for bcrypt and crypt(3), and for a secret or associated data with a function other than
    ///   Argon2; else the errors of the function.
    public static func derive(
        _ function: PasswordFunction, _ password: borrowing SecretBytes, salt: [UInt8],
        secret: borrowing SecretBytes = SecretBytes(copying: []), associatedData: [UInt8] = [], count: Int,
        version: Argon2.Version = .v19
    ) throws(CryptoError) -> SecretBytes {
        if case .argon2(let variant, let parameters) = function {
            return try argon2(
                variant, password, salt: salt, parameters, secret: secret, associatedData: associatedData,
                count: count, version: version)
        }
        guard secret.count == 0, associatedData.isEmpty else { throw .noSuchForm }
        switch function {
        case .scrypt(let logCost, let blockSize, let parallelism):
            guard (1...40).contains(logCost) else { throw .parameterOutOfRange }
            return try scrypt(
                password, salt: salt, cost: 1 << logCost, blockSize: blockSize, parallelism: parallelism, count: count)
        case .pbkdf2(let algorithm, let iterations):
            return try pbkdf2(algorithm, password, salt: salt, iterations: iterations, count: count)
        case .argon2, .bcrypt, .crypt: throw .noSuchForm
        }
    }
}
