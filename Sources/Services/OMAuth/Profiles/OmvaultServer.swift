// The keys of a login at an omvault server, from its address alone. docs/reference/profiles.md, `ServerURL`.

/// `ServerURL=https://vault.example.org` among the changes of a profile. It is no key of a profile: it stands for several.
package enum OmvaultServer {
    package static let shorthand = "ServerURL"

    /// The changes with the keys that a `ServerURL` stands for. Keys that are given beside it stay as they are.
    ///
    /// - Throws: ``ProfileProblem/value(_:)`` unless the value is an address without a query.
    package static func expand(
        _ changes: [(key: String, value: String)], for profile: ProfileName
    ) throws(AuthError) -> [(key: String, value: String)] {
        guard let address = changes.first(where: { $0.key == shorthand })?.value else { return changes }
        let base = address.hasSuffix("/") ? String(address.dropLast()) : address
        guard let server = ServerURL(base), !base.contains("?") else { throw .profile(.value(.oauthDiscoveryURL)) }
        let given = changes.filter { $0.key != shorthand }
        let application = given.first { ProfileKey(spelled: $0.key) == .applicationName }?.value ?? profile.text
        var implied: [(key: ProfileKey, value: String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, OAuthGrant.resourceOwner.rawValue),
            (.oauthDiscoveryURL, "\(base)/.well-known/oauth-authorization-server"), (.oauthClientID, "omvault"),
        ]
        // A policy is believed over https only.
        if server.isSecure { implied.append((.profileURL, "\(base)/v1/profiles/\(application)")) }
        let keys = Set(given.compactMap { ProfileKey(spelled: $0.key) })
        return implied.filter { !keys.contains($0.key) }.map { ($0.key.rawValue, $0.value) } + given
    }
}
