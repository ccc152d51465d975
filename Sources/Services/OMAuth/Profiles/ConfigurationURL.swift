// The SDK's configuration URLs: settings after a question mark. Anyone can send such a URL, so this code only reads it.
// ImportDanger.swift says which settings need the user's consent.

/// `scheme://[host]?Key::=Value&Key::=Value…`
///
///     let url = try ConfigurationURL("wp://settings?AuthServerType::=OAMMSAuthentication&…")
///     let profile = try url.profile(ProfileName("work"))
public struct ConfigurationURL: Hashable, Sendable {
    package static let maximumBytes = 64 << 10
    package static let maximumParts = 256

    /// How a part is written. The SDK has two entry points, each with its own syntax.
    public enum PairSyntax: Hashable, Sendable {
        /// `Key::=Value`. Only addresses and scopes are percent-encoded.
        case sdk
        /// `Key=Value`. Both are percent-encoded.
        case components
    }

    /// A part of the URL that was ignored, at least in part. It holds the position and not the text, which could be a secret.
    public struct Omission: Hashable, Sendable {
        public enum Reason: Hashable, Sendable {
            /// The part does not split into exactly two pieces.
            case notAPair
            /// The caller's filter does not name the key.
            case filtered
            /// A flag that is neither TRUE nor FALSE. The SDK takes it for false.
            case takenForFalse
            /// An entry of a list of headers that has no colon, or more than one.
            case malformedHeader
        }

        /// The part's number, from 1.
        public let part: Int
        public let reason: Reason
    }

    /// The name that the SDK gives to a configuration without a name.
    public static let defaultName = "OracleIDMMobileSDKConfigurationKey"

    public let scheme: String
    /// Empty if the URL has none. Nothing here uses it; the application that receives the URL can.
    public let host: String
    /// The values as given. ``profile(_:ceiling:)`` validates them.
    public let values: [ProfileKey: ProfileValue]
    public let omissions: [Omission]

    /// - Parameter filter: The keys to read. If empty, all of them.
    /// - Throws: ``AuthError/profile(_:)``, also for an unknown or repeated key that the filter does not leave out.
    public init(_ text: String, pairs: PairSyntax = .sdk, filter: Set<ProfileKey> = []) throws(AuthError) {
        do throws(ProfileProblem) {
            var reader = ConfigurationURLReader(pairs, filter)
            try reader.read(text)
            (scheme, host, values, omissions) = (reader.scheme, reader.host, reader.values, reader.omissions)
        } catch { throw .profile(error) }
    }

    /// The settings as a profile of this name.
    public func profile(_ name: ProfileName, ceiling: PolicyCeiling = .none) throws(AuthError) -> Profile {
        let values = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
        return try Profile(name, values: values, ceiling: ceiling)
    }
}

private struct ConfigurationURLReader {
    let pairs: ConfigurationURL.PairSyntax
    let filter: Set<ProfileKey>
    var scheme = ""
    var host = ""
    var values: [ProfileKey: ProfileValue] = [:]
    var omissions: [ConfigurationURL.Omission] = []

    init(_ pairs: ConfigurationURL.PairSyntax, _ filter: Set<ProfileKey>) { (self.pairs, self.filter) = (pairs, filter) }

    mutating func read(_ text: String) throws(ProfileProblem) {
        let bytes = Array(text.utf8)
        guard bytes.count <= ConfigurationURL.maximumBytes, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformedURL
        }
        let whole = bytes.split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)[0]
        let halves = whole.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        try readHead(String(decoding: halves[0], as: UTF8.self))
        guard halves.count == 2, !halves[1].isEmpty else { throw .urlWithoutQuery }
        let parts = halves[1].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        guard parts.count <= ConfigurationURL.maximumParts else { throw .malformedURL }
        for (index, part) in parts.enumerated() { try readPart(part, number: index + 1) }
        guard !values.isEmpty else { throw .nothingToImport }
    }

    private mutating func readHead(_ head: String) throws(ProfileProblem) {
        guard let range = head.firstRange(of: "://") else { throw .malformedURL }
        let scheme = head[..<range.lowerBound]
        let isScheme = scheme.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            default: index > 0 && "0123456789+-.".utf8.contains(byte)
            }
        }
        guard isScheme, (1...64).contains(scheme.utf8.count) else { throw .malformedURL }
        (self.scheme, host) = (String(scheme), String(head[range.upperBound...]))
    }

    private mutating func readPart(_ part: ArraySlice<UInt8>, number: Int) throws(ProfileProblem) {
        guard let (name, text) = pair(part) else { return omit(number, .notAPair) }
        let spelling = try decoded(name, when: pairs == .components)
        guard let key = ProfileKey(spelled: spelling) else {
            // A key that the filter leaves out need not be known.
            guard filter.isEmpty else { return omit(number, .filtered) }
            _ = try ProfileKey(known: spelling)
            return
        }
        guard filter.isEmpty || filter.contains(key) else { return omit(number, .filtered) }
        let value = try decoded(text, when: pairs == .components || isEncoded(spelling, key))
        guard values.updateValue(typed(value, key, number), forKey: key) == nil else { throw .repeatedKey(key) }
    }

    private func pair(_ part: ArraySlice<UInt8>) -> (String, String)? {
        let pieces: [ArraySlice<UInt8>] =
            switch pairs {
            case .sdk: part.split(separator: Array("::=".utf8), omittingEmptySubsequences: false)
            case .components: part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            }
        guard pieces.count == 2, !pieces[0].isEmpty else { return nil }
        return (String(decoding: pieces[0], as: UTF8.self), String(decoding: pieces[1], as: UTF8.self))
    }

    /// Whether one of the SDKs decodes it: iOS decodes two addresses, Android decodes every address and the scopes.
    private func isEncoded(_ spelling: String, _ key: ProfileKey) -> Bool {
        key.valueType == .url || key == .oauthScope || spelling.hasSuffix("URL") || spelling.hasSuffix("Endpoint")
    }

    private func decoded(_ text: String, when isEncoded: Bool) throws(ProfileProblem) -> String {
        guard isEncoded else { return text }
        guard let decoded = PercentEncoding.decode(text) else { throw .malformedURL }
        return decoded
    }

    /// Reads a value as the SDK does: a flag that is not TRUE is false, and a malformed header is dropped. Both are reported.
    private mutating func typed(_ text: String, _ key: ProfileKey, _ number: Int) -> ProfileValue {
        switch key.valueType {
        case .flag:
            if let flag = ProfileValueParser.flag(.text(text)) { return .bool(flag) }
            omit(number, .takenForFalse)
            return .bool(false)
        case .headers:
            let entries = text.split(separator: ",", omittingEmptySubsequences: false)
            let whole = entries.filter { entry in entry.utf8.count { $0 == UInt8(ascii: ":") } == 1 }
            if whole.count < entries.count { omit(number, .malformedHeader) }
            return .text(whole.joined(separator: ","))
        default: return .text(text)
        }
    }

    private mutating func omit(_ number: Int, _ reason: ConfigurationURL.Omission.Reason) {
        omissions.append(ConfigurationURL.Omission(part: number, reason: reason))
    }
}
