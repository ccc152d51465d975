// The names of schemes in stored hashes.

/// A fast hash by the name that a stored string gives it: `SaltedSHA-256`, `SSHA256`, `salted-sha256`.
public struct HashScheme: Hashable, Sendable {
    /// The system that the name belongs to.
    public enum Form: Hashable, Sendable {
        /// The SDK's, between braces: `{SHA-256}`, `{SaltedSHA-256}`.
        case sdk
        /// LDAP's (RFC 2307, OpenLDAP's pw-sha2), between braces: `{SHA}`, `{SSHA256}`.
        case ldap
        /// A PHC string's: `$salted-sha256$salt$hash`. It is always salted, because a PHC hash follows a salt.
        case phc
    }

    public let form: Form
    public let algorithm: DigestAlgorithm
    public let isSalted: Bool

    /// - Throws: ``CryptoError/noSuchForm`` if the form has no name for the algorithm.
    public init(_ form: Form, _ algorithm: DigestAlgorithm, isSalted: Bool) throws(CryptoError) {
        guard Self.name(form, algorithm, isSalted) != nil else { throw .noSuchForm }
        (self.form, self.algorithm, self.isSalted) = (form, algorithm, isSalted)
    }

    /// The name as a stored string spells it.
    public var name: String { Self.name(form, algorithm, isSalted) ?? "" }

    private static func name(_ form: Form, _ algorithm: DigestAlgorithm, _ isSalted: Bool) -> String? {
        switch form {
        case .sdk: return (isSalted ? "Salted" : "") + algorithm.sdkName
        case .phc: return isSalted ? "salted-" + algorithm.name : nil
        case .ldap:
            switch algorithm.kind {
            case .insecureSHA1: return isSalted ? "SSHA" : "SHA"
            case .insecureMD5, .sha224, .sha256, .sha384, .sha512:
                return (isSalted ? "S" : "") + algorithm.name.uppercased()
            default: return nil
            }
        }
    }

    /// Every scheme that a stored string can name. `{MD5}` is in it twice, as the SDK's and as LDAP's.
    public static let all: [HashScheme] = [Form.ldap, .sdk, .phc].flatMap { form in
        DigestAlgorithm.allCases.flatMap { algorithm in
            [false, true].compactMap { try? HashScheme(form, algorithm, isSalted: $0) }
        }
    }

    /// Every name, in lower case. `{MD5}` means the same to the SDK and to LDAP.
    static let braced: [String: HashScheme] = named { $0 != .phc }
    static let phc: [String: HashScheme] = named { $0 == .phc }

    private static func named(_ isWanted: (Form) -> Bool) -> [String: HashScheme] {
        Dictionary(all.filter { isWanted($0.form) }.map { ($0.name.lowercased(), $0) }) { $1 }
    }
}

extension Substring {
    var trimmingBlanks: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
