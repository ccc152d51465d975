// The address to which the browser brings the answer of a login: loopback, or a scheme of an application.

internal import OMOnlineModel

/// A redirect address, with the port of the sockets that wait for the browser.
struct RedirectAddress: Hashable, Sendable {
    private static let longest = 2048

    /// The text as the client registered it, with the port.
    let text: String
    /// The address on loopback. Nil for another kind of address, whose answer a person pastes.
    let loopback: EndpointURL?

    /// - Parameters:
    ///   - text: `OAuthRedirectEndpoint`.
    ///   - port: The port of the sockets that wait. Nil without a socket.
    /// - Throws: ``OnlineFailure/unsafeAddress`` for an address without scheme, with a query or a fragment, or with other
    ///   characters than printable ASCII, and if a browser would not reach the sockets by it.
    init(_ text: String, port: Int? = nil) throws(OnlineRefusal) {
        guard (1...Self.longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"#?\"\\<>^`{|}".utf8.contains($0) }),
            Self.hasScheme(text)
        else { throw .failed(.unsafeAddress) }
        let url = EndpointURL(reading: text)
        let isLoopback = url.map { !$0.isSecure && $0.isLocal } ?? false
        guard let port else {
            self.text = text
            loopback = isLoopback ? url : nil
            return
        }
        // Attack: the browser brings the code to another machine than this one.
        guard isLoopback, let url else { throw .failed(.unsafeAddress) }
        let start = text.firstRange(of: "://")?.upperBound ?? text.endIndex
        let authority = text[start...].prefix { $0 != "/" }
        let hasPort = authority.last != "]" && authority.contains(":")
        guard !hasPort || url.port == port else { throw .failed(.unsafeAddress) }
        self.text = hasPort ? text : "\(text[..<authority.endIndex]):\(port)\(text[authority.endIndex...])"
        guard let whole = EndpointURL(reading: self.text) else { throw .failed(.unsafeAddress) }
        loopback = whole
    }

    /// The query of an address that a person pasted. Nil if it is not this address with a query.
    func query(ofPasted pasted: String) -> Substring? {
        let plain = pasted.prefix { $0 != "#" }
        guard let mark = plain.firstIndex(of: "?"), isHere(plain[..<mark]) else { return nil }
        return plain[plain.index(after: mark)...]
    }

    /// The fragment of an address that a person pasted. Nil if it is not this address with a fragment.
    func fragment(ofPasted pasted: String) -> Substring? {
        guard let mark = pasted.firstIndex(of: "#") else { return nil }
        let fragment = pasted[pasted.index(after: mark)...]
        return !fragment.isEmpty && isHere(pasted[..<mark].prefix { $0 != "?" }) ? fragment : nil
    }

    private func isHere(_ address: Substring) -> Bool {
        if let here = EndpointURL(reading: text) {
            guard let there = EndpointURL(reading: String(address)) else { return false }
            return there.hasOrigin(of: here) && there.path == here.path
        }
        // Only the scheme has two spellings.
        let (scheme, other) = (text.prefix { $0 != ":" }, address.prefix { $0 != ":" })
        return scheme.lowercased() == other.lowercased()
            && text[scheme.endIndex...].utf8.elementsEqual(address[other.endIndex...].utf8)
    }

    private static func hasScheme(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.endIndex < text.endIndex, let first = scheme.first, first.isASCII, first.isLetter else { return false }
        return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
