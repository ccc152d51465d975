// The TCP ports of a service. A question about it connects to no other port.

package import OMOnlineModel

extension OnlineService {
    /// The ports of the addresses that the profile names. ``DiscoveryDocument`` takes no endpoint at another port: with an
    /// issuer or origins only the document's and the origins', with neither the document's and 443.
    package var ports: Set<UInt16> { ports(with: nil) }

    /// The same ports, and that of an address that a question names beside the service.
    package func ports(with address: String?) -> Set<UInt16> {
        var texts = [profile, address]
        var ports: Set<UInt16> = []
        switch kind {
        case .basic(let basic), .certificate(let basic): texts += [basic.login, basic.logout]
        case .oamms(let oamms): texts.append(oamms.server)
        case .oauth(let oauth):
            switch oauth.endpoint {
            case .token(_, let revocation), .pages(let revocation):
                if case .token(let token, _) = oauth.endpoint { texts.append(token) }
                // The browser, and not this process, goes to the authorization endpoint.
                texts += [
                    revocation, oauth.browser?.device, oauth.browser?.keySet, oauth.browser?.userInfo,
                    oauth.proof.pushedRequestEndpoint, oauth.tokenEndpoints.introspection, oauth.tokenEndpoints.userInfo,
                ]
            case .discovery, .configuration:
                texts += oauth.documentOrigins ?? []
                if !oauth.bindsOrigins { ports.insert(UInt16(EndpointURL.securePort)) }
            }
        }
        for case let text? in texts {
            // An invalid address is skipped here. It is refused with its reason before any connection.
            if let address = EndpointURL(reading: text) { ports.insert(UInt16(address.port)) }
        }
        return ports
    }
}
