// What is known of a public login server before a client is registered there: docs/reference/profiles.md, "Presets".

internal import OMJSON

/// Settings for the profile of one relying party. They have no client's id, no secret and no trust.
package struct ProfilePreset: Sendable {
    package let name: String
    /// The server, in one line.
    package let about: String
    /// Whether a person has logged in with these settings.
    package let isProven: Bool
    /// Where the settings come from.
    package let source: String
    /// What a user has to know, a sentence each.
    package let notes: [String]
    /// The form of the issuer that the user types. Nil if the settings name the server.
    package let issuerForm: String?
    /// As a user would type them, sorted by key.
    package let settings: [(key: ProfileKey, value: String)]

    /// The keys that a preset may set. Attack: a preset trusts a certificate, releases tokens, or names a file of this machine as a
    /// secret.
    package static let keys: Set<ProfileKey> = [
        .oauthIssuer, .oauthEndpointOrigins, .oauthTokenEndpoint, .oauthAuthorizationEndpoint, .oauthDeviceEndpoint,
        .oauthRevocationEndpoint, .oauthUserInfoEndpoint, .oauthKeySetEndpoint, .oauthRedirectEndpoint, .oauthScope,
        .oauthUserClaim, .oauthPrompt, .oauthContextClasses, .oauthIncludeClientAuthHeader, .restOrigins,
    ]

    /// - Throws: ``ProfileProblem/presets`` for anything that docs/reference/profiles.md does not allow.
    init(_ name: String, _ json: JSON) throws(ProfileProblem) {
        guard Self.isName(name), let members = json.members, Set(members.keys).isSubset(of: Self.members),
            case .bool(let isProven)? = members["proven"], let about = members["about"]?.text, Self.isLine(about),
            let source = members["source"]?.text, Self.isLine(source),
            let notes = members["notes"].map({ $0.elements?.compactMap(\.text) }) ?? [],
            notes.count == members["notes"]?.elements?.count ?? 0, notes.allSatisfy(Self.isLine),
            let given = members["settings"]?.members
        else { throw .presets }
        issuerForm = members["issuer_form"]?.text
        guard (issuerForm != nil) == (members["issuer_form"] != nil), issuerForm.map(Self.isLine) ?? true else { throw .presets }
        var settings: [(key: ProfileKey, value: String)] = []
        for (spelling, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let key = ProfileKey(rawValue: spelling), Self.keys.contains(key), let text = value.text, Self.isLine(text)
            else { throw .presets }
            do throws(ProfileProblem) { _ = try key.canonical(.text(text)) } catch { throw .presets }
            guard Self.isSafe(text, of: key) else { throw .presets }
            settings.append((key, text))
        }
        (self.name, self.about, self.isProven, self.source) = (name, about, isProven, source)
        (self.notes, self.settings) = (notes, settings)
        // It names its server in one way: by an issuer, by a form for one, or by two endpoints.
        let ways = [self[.oauthIssuer], issuerForm, self[.oauthTokenEndpoint]].compactMap(\.self)
        guard ways.count == 1 else { throw .presets }
    }

    private static let members: Set = ["about", "proven", "source", "notes", "issuer_form", "settings"]

    /// The value of a setting.
    package subscript(key: ProfileKey) -> String? { settings.first { $0.key == key }?.value }

    /// Small letters, digits and hyphens.
    static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// One line that can be shown: 1 to 300 printable ASCII characters.
    private static func isLine(_ text: String) -> Bool {
        (1...300).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether each address is https, or of this machine. Attack: a redirect address of another machine gets the answers of logins.
    private static func isSafe(_ text: String, of key: ProfileKey) -> Bool {
        let addresses: [String]
        switch key.valueType {
        case .origins: addresses = text.split(separator: ",").map(String.init)
        case .url: addresses = [text]
        default:
            guard key == .oauthRedirectEndpoint else { return true }
            // The scheme of an application stays on this machine.
            if let address = ServerURL(text) { return address.isLoopback }
            let scheme = text.prefix { $0 != ":" }.lowercased()
            return scheme != "http" && scheme != "https"
        }
        return addresses.allSatisfy { text in
            guard let address = ServerURL(text.filter { $0 != " " }) else { return false }
            return address.isSecure || address.isLoopback
        }
    }
}
