/// The schemes that a caller accepts in a stored string. The string can choose only among them: an attacker who can write a
/// stored hash must not be able to choose a weaker function or more work.
public struct HashSchemes: Hashable, Sendable {
    private let names: Set<String>

    /// Every salted hash and every password hash.
    public static let standard = HashSchemes(saltedNames.union(passwordNames))

    /// - Parameter list: Names as stored strings spell them, in any case, and the groups `salted`, `unsalted`, `password`
    ///   (argon2id, argon2i, argon2d, scrypt, pbkdf2, bcrypt, sha256crypt, sha512crypt, yescrypt) and `all`. Commas separate
    ///   them; blanks around them are ignored.
    /// - Throws: ``CryptoError/unknownAlgorithm`` for any other word.
    public init(list: String) throws(CryptoError) {
        var names: Set<String> = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            switch word.trimmingBlanks.lowercased() {
            case "salted": names.formUnion(Self.saltedNames)
            case "unsalted": names.formUnion(Self.unsaltedNames)
            case "password": names.formUnion(Self.passwordNames)
            case "all": names.formUnion(Self.knownNames)
            case "pbkdf2": names.formUnion(Self.pbkdf2Names)
            case let name where Self.knownNames.contains(name): names.insert(name)
            default: throw .unknownAlgorithm
            }
        }
        self.init(names)
    }

    public func allows(_ scheme: HashScheme) -> Bool { names.contains(scheme.name.lowercased()) }

    public func allows(_ function: PasswordFunction) -> Bool {
        names.contains(function.scheme)
    }

    private init(_ names: Set<String>) { self.names = names }

    private static let fast = Array(HashScheme.braced) + Array(HashScheme.phc)
    private static let saltedNames = Set(fast.filter { $0.value.isSalted }.map(\.key))
    private static let unsaltedNames = Set(fast.filter { !$0.value.isSalted }.map(\.key))
    private static let pbkdf2Names = Set(
        DigestAlgorithm.allCases.map { PasswordFunction.pbkdf2($0, iterations: 1).name })
    private static let passwordNames = pbkdf2Names.union(
        ["argon2id", "argon2i", "argon2d", "scrypt", "bcrypt"] + CryptMethod.allCases.map(\.rawValue))
    private static let knownNames = saltedNames.union(unsaltedNames).union(passwordNames)
}
