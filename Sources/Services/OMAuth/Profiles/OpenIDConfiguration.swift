// The OpenID metadata inside of a profile: what this process reads of them. The process that asks the server reads the rest.

internal import OMJSON

/// `OpenIDConnectConfiguration`: the document in which an OpenID server names its endpoints.
package struct OpenIDConfiguration: Hashable, Sendable {
    private static let longest = 32 << 10

    /// As the profile has it.
    package let text: String
    /// With the spelling of the document.
    package let issuer: ServerURL

    /// Nil unless the text is a JSON object with the issuer's address. As in the SDK, the members may be inside of
    /// `openid-configuration`.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        let bytes = Array(text.utf8)
        guard let outer = (try? JSON(parsing: bytes.span))?.members else { return nil }
        let members = outer["issuer"] == nil ? outer["openid-configuration"]?.members ?? outer : outer
        guard let name = members["issuer"]?.text, let issuer = ServerURL(name), !name.contains("?") else { return nil }
        (self.text, self.issuer) = (text, issuer)
    }
}

extension Profile {
    /// The metadata in the profile. Nil if another key counts, or if its server is of another kind.
    package var openIDConfiguration: OpenIDConfiguration? {
        guard values[.authServerType].flatMap(RequiredProfileKeys.type) == .openIDConnect, oauthTokenEndpoint == nil,
            case .text(let text)? = values[.openIDConnectConfiguration]
        else { return nil }
        return OpenIDConfiguration(text)
    }
}
