// The OpenID metadata inside of a profile: what this process reads of them. The process that asks the server reads the rest.

internal import OMJSON
package import OMOnlineModel

/// `OpenIDConnectConfiguration`: the document in which an OpenID server names its endpoints.
package struct OpenIDConfiguration: Hashable, Sendable {
    private static let longest = 32 << 10

    /// As the profile has it.
    package let text: String
    /// With the spelling of the document.
    package let issuer: ServerURL
    /// The addresses that an assertion may be for.
    package let endpoints: [ServerEndpoint]

    /// Nil unless the text is a JSON object with the issuer's address. As in the SDK, the members may be inside of
    /// `openid-configuration`.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        guard let outer = JSON(answer: Array(text.utf8))?.members else { return nil }
        let members = outer["issuer"] == nil ? outer["openid-configuration"]?.members ?? outer : outer
        guard let name = members["issuer"]?.text, let issuer = ServerURL(name), !name.contains("?") else { return nil }
        (self.text, self.issuer) = (text, issuer)
        endpoints = ServerEndpoint.Kind.allCases.filter(\.isOfOAuth).compactMap { kind in
            guard let url = members[kind.name]?.text.flatMap(ServerURL.init), url.isSecure || url.isLoopback else { return nil }
            return ServerEndpoint(kind, url.text)
        }
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
