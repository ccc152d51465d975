// The values of a profile: the check of each, and its canonical spelling.

internal import OMOnlineModel
internal import OMRecords
internal import OMSystem

/// A value as a profile file or a command line gives it.
public enum ProfileValue: Hashable, Sendable {
    case text(String)
    /// A number's own digits: `5` and `5.0` are not the same here.
    case number(String)
    case bool(Bool)
}

extension ProfileKey {
    /// The value as it is stored: one spelling for each meaning.
    ///
    /// - Throws: ``ProfileProblem/value(_:)``, ``ProfileProblem/plainSecret(_:)``.
    func canonical(_ value: ProfileValue) throws(ProfileProblem) -> ProfileValue {
        let found: ProfileValue? =
            switch valueType {
            case .flag: ProfileValueParser.flag(value).map { .bool($0) }
            case .number(let range): ProfileValueParser.number(value, range).map { .number(String($0)) }
            case .numberOrZero(let range):
                (ProfileValueParser.number(value, 0...0) ?? ProfileValueParser.number(value, range)).map { .number(String($0)) }
            default: try canonical(text: value)
            }
        guard let found else { throw .value(self) }
        return found
    }

    private func canonical(text value: ProfileValue) throws(ProfileProblem) -> ProfileValue? {
        guard case .text(let text) = value else { return nil }
        let found: String? =
            switch valueType {
            case .choice(let words): words.first { $0.lowercased() == text.lowercased() }
            case .word(let words): words.first { $0.utf8.elementsEqual(text.utf8) }
            case .text: ProfileValueParser.isText(text, bytes: 1...2048) ? text : nil
            case .metadata: OpenIDConfiguration(text)?.text
            case .domain: ProfileValueParser.isDomain(text) ? text : nil
            case .headerName: ProfileValueParser.isHeaderName(text) ? text : nil
            case .url: ServerURL(text).map(\.text)
            case .origins: ProfileValueParser.origins(text)?.joined(separator: ",")
            case .list: ProfileValueParser.list(text, areScopes: self == .oauthScope)?.joined(separator: ",")
            case .headers: ProfileValueParser.headers(text).map { $0.map { "\($0.name):\($0.value)" }.joined(separator: ",") }
            case .path: FilePath.isAbsolute(text) && ProfileValueParser.isText(text, bytes: 2...4095) ? text : nil
            case .secret: ProfileValueParser.isSecretSource(text) ? text : nil
            case .identity: ProfileValueParser.identity(text) == nil ? nil : text
            case .scheme: CryptoScheme(named: text)?.rawValue
            case .level: ProtectionLevel(named: text)?.sdkName
            case .flag, .number, .numberOrZero: nil
            }
        // No error repeats the value: it may be the secret itself.
        if found == nil, valueType == .secret { throw .plainSecret(self) }
        return found.map { .text($0) }
    }
}

/// The checks of each ``ProfileValueType``.
enum ProfileValueParser {
    static func flag(_ value: ProfileValue) -> Bool? {
        switch value {
        case .bool(let bool): bool
        case .text(let text) where text.lowercased() == "true": true
        case .text(let text) where text.lowercased() == "false": false
        case .text, .number: nil
        }
    }

    /// Reads plain decimal digits without a leading zero, so that a number has one spelling.
    static func number(_ value: ProfileValue, _ range: ClosedRange<Int64>, maximumDigits: Int = 10) -> Int64? {
        let digits: String
        switch value {
        case .text(let text), .number(let text): digits = text
        case .bool: return nil
        }
        let bytes = Array(digits.utf8)
        guard (1...maximumDigits).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard bytes.count == 1 || bytes[0] != 0x30, let number = Int64(digits), range.contains(number) else { return nil }
        return number
    }

    static func isText(_ text: String, bytes count: ClosedRange<Int>) -> Bool {
        count.contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: false
                default: true
                }
            }
    }

    static func isDomain(_ text: String) -> Bool {
        !text.isEmpty && (try? IdentityDomain(text)) != nil
    }

    /// 1 to 64 names, without repetitions. Spaces may separate scopes too (RFC 6749, 3.3).
    static func list(_ text: String, areScopes: Bool) -> [String]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let names = areScopes ? parts.flatMap { $0.split(separator: " ").map(String.init) } : parts
        guard (1...64).contains(names.count), names.allSatisfy({ isText($0, bytes: 1...256) }) else { return nil }
        let areOfScopeBytes = names.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } }
        guard !areScopes || areOfScopeBytes else { return nil }
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }
    }

    /// 1 to 16 origins, without repetitions.
    static func origins(_ text: String) -> [String]? {
        let addresses = text.split(separator: ",", omittingEmptySubsequences: false).map { ServerURL(trimmed($0)) }
        let origins = addresses.compactMap { $0.flatMap { $0.isOrigin ? $0.shortOrigin : nil } }
        guard (1...16).contains(addresses.count), origins.count == addresses.count else { return nil }
        var known: Set<String> = []
        return origins.filter { known.insert($0).inserted }
    }

    static func isHeaderName(_ text: String) -> Bool {
        let isToken = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
        return isToken && (1...128).contains(text.utf8.count) && !OnlineService.Header.reserved.contains(text.lowercased())
    }

    static func headers(_ text: String) -> [(name: String, value: String)]? {
        var found: [(name: String, value: String)] = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
            // Attack: a value has a line break and so adds a header of its own. Only printable ASCII is allowed.
            guard parts.count == 2, isHeaderName(parts[0]), (1...1024).contains(parts[1].utf8.count),
                parts[1].utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
                !found.contains(where: { $0.name.lowercased() == parts[0].lowercased() })
            else { return nil }
            found.append((parts[0], parts[1]))
        }
        return found.count <= 10 ? found : nil
    }

    /// `file:` and an absolute path, `cred:` and the name of a systemd credential, or `vault:` with an item and a field.
    static func isSecretSource(_ text: String) -> Bool {
        if text.hasPrefix("vault:") {
            let parts = text.dropFirst("vault:".count).split(separator: ":", omittingEmptySubsequences: false)
            return parts.count >= 2 && !parts[parts.count - 1].isEmpty && !parts[0].isEmpty && isText(text, bytes: 1...2048)
        }
        if text.hasPrefix("file:/") { return isText(String(text.dropFirst("file:".count)), bytes: 2...4095) }
        guard text.hasPrefix("cred:") else { return false }
        let name = text.dropFirst("cred:".count)
        return isText(String(name), bytes: 1...255) && !name.utf8.contains(UInt8(ascii: "/")) && !name.hasPrefix(".")
    }

    /// The name behind `identity:`.
    static func identity(_ text: String) -> String? {
        let start = "identity:"
        guard text.utf8.starts(with: start.utf8) else { return nil }
        let name = String(decoding: text.utf8.dropFirst(start.utf8.count), as: UTF8.self)
        return isText(name, bytes: 1...246) ? name : nil
    }

    /// Removes the spaces at both ends. It compares bytes: Swift reads a space and a following accent as one character.
    private static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8.drop { $0 == 0x20 })
        while bytes.last == 0x20 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
