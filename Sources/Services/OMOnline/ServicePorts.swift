// The TCP ports of a service: all that asking it may connect to.

package import OMOnlineModel

extension OnlineService {
    /// The ports of the addresses that the profile names. Of a discovery document they are the document's own and 443:
    /// ``OAuthEndpoints`` takes no endpoint at another one.
    package var ports: Set<UInt16> {
        var texts = [profile]
        var ports: Set<UInt16> = []
        switch kind {
        case .basic(let basic): texts += [basic.login, basic.logout]
        case .oauth(let oauth):
            switch oauth.endpoint {
            case .token(let token, let revocation): texts += [token, revocation]
            case .discovery(let document):
                texts.append(document)
                ports.insert(UInt16(EndpointURL.securePort))
            }
        }
        for case let text? in texts {
            // An address that is none is refused with its reason, before anything is connected to.
            if let address = EndpointURL(reading: text) { ports.insert(UInt16(address.port)) }
        }
        return ports
    }
}
