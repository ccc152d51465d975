// Stored password hashes, written and read: PHC strings of Argon2, scrypt and PBKDF2, crypt(3) strings of bcrypt, SHA-crypt
// and yescrypt.

public import OMSecrets

/// A stored password hash, which can be checked against a password.
///
///     let stored = try PasswordHash.make(password).text
///     try PasswordHash(parsing: stored).matches(password)
///
/// | function | string |
/// |---|---|
/// | Argon2 | `$argon2id$v=19$m=65536,t=3,p=1[,data=…]$salt$hash`; without `v`: version 16 |
/// | scrypt | `$scrypt$ln=17,r=8,p=1$salt$hash` |
/// | PBKDF2 | `$pbkdf2-sha256$i=600000,l=32$salt$hash`; read too: passlib's `$pbkdf2-sha256$600000$salt$hash` |
/// | bcrypt | `$2b$12$…`; read too: `$2a$`, `$2y$` |
/// | sha256crypt, sha512crypt | `$5$rounds=500000$salt$hash`, `$6$…`; 5000 rounds if none are named |
/// | yescrypt | `$y$jAT$salt$hash` |
public struct PasswordHash: Hashable, Sendable {
    public let function: PasswordFunction
    /// The string, as it was parsed or made.
    public let text: String
    private let salt: [UInt8]
    private let hash: [UInt8]
    private let version: Argon2.Version
    private let associatedData: [UInt8]

    /// - Parameter limit: The work that the string may ask for.
    /// - Throws: ``CryptoError/malformedHash``, ``CryptoError/unknownAlgorithm``, ``CryptoError/workTooHigh``.
    public init(parsing text: String, limit: WorkLimit = .standard) throws(CryptoError) {
        self.text = text
        if let function = try Self.cryptFunction(of: text) {
            self.function = function
            (salt, hash, version, associatedData) = ([], [], .v19, [])
        } else {
            let fields = try PHCFields(text)
            (function, salt, hash) = (fields.function, fields.salt, fields.hash)
            (version, associatedData) = (fields.version, fields.associatedData)
        }
        try check(limit)
    }

    /// - Throws: ``CryptoError/workTooHigh``.
    func check(_ limit: WorkLimit) throws(CryptoError) { try limit.check(function, count: hash.count) }

    /// Hashes `password` with a new salt of 16 bytes.
    ///
    /// - Parameters:
    ///   - function: By default Argon2id with 64 MiB and 3 passes.
    ///   - salt: For tests and other systems: 8 to 64 bytes, for bcrypt and crypt(3) 16.
    ///   - secret: Argon2's K. The string does not hold it, so a check needs it again.
    ///   - associatedData: Argon2's X, at most 32 bytes. The string holds it.
    ///   - count: The hash's length, 16 to 64 bytes. bcrypt and crypt(3) have their own lengths.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/workTooHigh``, ``CryptoError/outOfMemory``,
    ///   ``CryptoError/passwordNotSupported``, ``CryptoError/noSuchForm`` for a secret or associated data with a function
    ///   other than Argon2.
    public static func make(
        _ password: borrowing SecretBytes, _ function: PasswordFunction = .standard(.argon2id), salt: [UInt8]? = nil,
        secret: borrowing SecretBytes = SecretBytes(copying: []), associatedData: [UInt8] = [], count: Int = 32,
        limit: WorkLimit = .standard
    ) throws(CryptoError) -> PasswordHash {
        try limit.check(function, count: count)
        let salt = salt ?? Random.bytes(16)
        if function.isOfCrypt {
            guard secret.count == 0, associatedData.isEmpty else { throw .noSuchForm }
            return try PasswordHash(parsing: Self.cryptString(password, function, salt: salt), limit: limit)
        }
        guard (8...64).contains(salt.count), (16...64).contains(count), associatedData.count <= 32 else {
            throw .parameterOutOfRange
        }
        let hash = try KeyDerivation.derive(
            function, password, salt: salt, secret: secret, associatedData: associatedData, count: count)
        let fields = PHCFields(
            function: function, salt: salt, hash: hash.withBytes { [UInt8](copying: $0) },
            associatedData: associatedData)
        return try PasswordHash(parsing: fields.text, limit: limit)
    }

    /// Whether this is the hash of `password`, compared in constant time.
    ///
    /// - Parameter secret: The K that the hash was made with. Functions without a K refuse it.
    /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/passwordNotSupported``, ``CryptoError/noSuchForm``.
    public func matches(
        _ password: borrowing SecretBytes, secret: borrowing SecretBytes = SecretBytes(copying: [])
    ) throws(CryptoError) -> Bool {
        if function.isOfCrypt {
            guard secret.count == 0 else { throw .noSuchForm }
            // With bcrypt only the first 72 bytes of a longer password count, as in the program that made the string.
            let computed = try SystemCrypt.string(password, setting: text)
            return ConstantTime.areEqual(Array(computed.utf8).span, Array(text.utf8).span)
        }
        let computed = try KeyDerivation.derive(
            function, password, salt: salt, secret: secret, associatedData: associatedData, count: hash.count,
            version: version)
        return computed.withBytes { ConstantTime.areEqual($0, hash.span) }
    }

    /// Nil for a string that crypt(3) does not make.
    private static func cryptFunction(of text: String) throws(CryptoError) -> PasswordFunction? {
        if let cost = try BCrypt.cost(of: text) { return .bcrypt(cost: cost) }
        return try CryptMethod.function(of: text)
    }

    private static func cryptString(
        _ password: borrowing SecretBytes, _ function: PasswordFunction, salt: [UInt8]
    ) throws(CryptoError) -> String {
        switch function {
        case .bcrypt(let cost): try BCrypt.make(password, cost: cost, salt: salt)
        case .crypt(let method, let cost): try method.make(password, cost: cost, salt: salt)
        case .argon2, .scrypt, .pbkdf2: throw .noSuchForm
        }
    }

    /// Whether `id`, which follows the first `$` of a string, belongs to one of our functions.
    static func isFunction(_ id: some StringProtocol) -> Bool {
        Argon2.Variant(rawValue: String(id)) != nil || ["scrypt", "pbkdf2"].contains(String(id)) || id.hasPrefix("pbkdf2-")
            || isOfCrypt(id)
    }

    /// Whether crypt(3) makes the strings with this `id`.
    static func isOfCrypt(_ id: some StringProtocol) -> Bool {
        ["2a", "2b", "2y"].contains(String(id)) || CryptMethod.allCases.contains { $0.id == id }
    }
}

extension PasswordFunction {
    /// Whether crypt(3) makes its strings.
    fileprivate var isOfCrypt: Bool {
        switch self {
        case .bcrypt, .crypt: true
        case .argon2, .scrypt, .pbkdf2: false
        }
    }
}

/// The fields of a PHC string of one of our functions.
private struct PHCFields {
    let function: PasswordFunction
    let salt: [UInt8]
    let hash: [UInt8]
    var version = Argon2.Version.v19
    var associatedData: [UInt8] = []

    init(function: PasswordFunction, salt: [UInt8], hash: [UInt8], associatedData: [UInt8]) {
        (self.function, self.salt, self.hash) = (function, salt, hash)
        self.associatedData = associatedData
    }

    init(_ text: String) throws(CryptoError) {
        var string: PHCString
        if let foreign = try Self.fromPasslib(text) { string = foreign } else { string = try PHCString(parsing: text) }
        guard let salt = string.salt, let hash = string.hash, hash.count >= 4 else { throw .malformedHash }
        (self.salt, self.hash) = (salt, hash)
        if let variant = Argon2.Variant(rawValue: string.id) {
            guard let version = Argon2.Version(rawValue: string.version ?? 16), salt.count >= 8 else {
                throw .malformedHash
            }
            self.version = version
            if let last = string.parameters.last, last.name == "data" {
                associatedData = try PHCString.bytes(last.value)
                guard (1...32).contains(associatedData.count) else { throw .malformedHash }
                string.parameters.removeLast()
            }
            let numbers = try string.numbers(["m", "t", "p"])
            guard numbers[0] >= 8 * numbers[2], numbers[1] >= 1, numbers[2] >= 1, numbers[0] <= UInt32.max,
                numbers[1] <= UInt32.max
            else { throw .malformedHash }
            function = .argon2(variant, .init(memoryKiB: numbers[0], passes: numbers[1], lanes: numbers[2]))
            return
        }
        guard string.version == nil else { throw .malformedHash }
        if string.id == "scrypt" {
            let numbers = try string.numbers(["ln", "r", "p"])
            guard (1...63).contains(numbers[0]), numbers[1] >= 1, numbers[2] >= 1 else { throw .malformedHash }
            function = .scrypt(logCost: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
        } else if string.id.hasPrefix("pbkdf2-") {
            let algorithm = try DigestAlgorithm(named: String(string.id.dropFirst("pbkdf2-".count)))
            // The name in its only valid form, like every field.
            guard "pbkdf2-\(algorithm.name)" == string.id else { throw .unknownAlgorithm }
            let numbers = try string.numbers(["i", "l"])
            guard numbers[0] >= 1, numbers[1] == hash.count else { throw .malformedHash }
            function = .pbkdf2(algorithm, iterations: numbers[0])
        } else {
            throw .unknownAlgorithm
        }
    }

    /// passlib's own form, `$pbkdf2-sha256$29000$salt$hash`: bare iterations, `.` for `+`, and no name for SHA-1.
    private static func fromPasslib(_ text: String) throws(CryptoError) -> PHCString? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, fields[0].isEmpty, fields[1].hasPrefix("pbkdf2"), !fields[2].contains("=") else {
            return nil
        }
        guard text.utf8.count <= PHCString.longest, !text.contains("+") else { throw .malformedHash }
        var string = PHCString(id: fields[1] == "pbkdf2" ? "pbkdf2-sha1" : fields[1])
        string.salt = try PHCString.bytes(fields[3].replacing(".", with: "+"))
        let hash = try PHCString.bytes(fields[4].replacing(".", with: "+"))
        string.hash = hash
        string.parameters = [("i", String(try PHCString.number(fields[2]))), ("l", String(hash.count))]
        return string
    }

    var text: String {
        var string = PHCString(id: function.name)
        (string.salt, string.hash) = (salt, hash)
        switch function {
        case .argon2(_, let parameters):
            string.version = version.rawValue
            string.parameters = [
                ("m", "\(parameters.memoryKiB)"), ("t", "\(parameters.passes)"), ("p", "\(parameters.lanes)"),
            ]
            if !associatedData.isEmpty {
                string.parameters.append(("data", Base64.encode(associatedData, .unpadded)))
            }
        case .scrypt(let logCost, let blockSize, let parallelism):
            string.parameters = [("ln", "\(logCost)"), ("r", "\(blockSize)"), ("p", "\(parallelism)")]
        case .pbkdf2(_, let iterations): string.parameters = [("i", "\(iterations)"), ("l", "\(hash.count)")]
        case .bcrypt, .crypt: preconditionFailure("crypt(3) makes this string")
        }
        return string.text
    }
}
