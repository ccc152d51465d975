// Purposes of signatures as bytes. Formats: docs/formats/online-protocol.md, "Signatures"; docs/formats/agent-protocol.md,
// "Signatures".

package import OMAgentProtocol
internal import OMOnlineModel
package import OMRecords
package import OMSecrets
package import OMVault

/// 1 ‖ endpoint's kind (1) ‖ algorithms (1), 2 ‖ scheme (2) ‖ text, 3 ‖ claims, or 4 ‖ nonce ‖ address
extension SigningPurpose: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .assertion(let kind, let algorithms): body.write(tag: 1, kind.rawValue, algorithms)
        case .handshake(let text, let scheme): body.write(tag: 2, scheme, HandshakeText(bytes: text))
        case .proof(let claims): body.write(tag: 3, claims)
        case .nonce(let nonce, let address): body.write(tag: 4, nonce, address)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1:
            guard let kind = ServerEndpoint.Kind(rawValue: try wire.read()) else { throw MalformedBytes() }
            self = .assertion(at: kind, algorithms: try wire.algorithms())
        case 2:
            let scheme: UInt16 = try wire.read()
            self = .handshake(text: try wire.read(HandshakeText.self).bytes, scheme: scheme)
        case 3: self = .proof(try wire.read())
        case 4:
            self = .nonce(try wire.read(), of: try wire.read())
            guard case .nonce(let nonce, let address) = self, KeyProofClaims.isNonce(nonce),
                (1...ServerEndpoint.longest).contains(address.utf8.count)
            else { throw MalformedBytes() }
        default: throw MalformedBytes()
        }
    }

    /// - Throws: For a body that is not exactly what docs/formats/online-protocol.md allows, and for another question's.
    init(decoding bytes: Span<UInt8>, of id: [UInt8]) throws(MalformedBytes) {
        var wire = WireReader(bytes)
        guard try wire.read(WireID.self).bytes == id else { throw MalformedBytes() }
        self = try wire.read()
        try wire.end()
    }
}

/// method ‖ address ‖ optional nonce ‖ flag ‖ the token's hash (32), if the flag is set
extension KeyProofClaims: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(method, address, nonce)
        body.write(tokenHash != nil)
        if let tokenHash { body.append(tokenHash.span) }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let (method, address, nonce): (String, String, String?) = (try wire.read(), try wire.read(), try wire.read())
        let hasHash: Bool = try wire.read()
        let hash = hasHash ? try wire.bytes(Self.hashCount) : nil
        let isMethod = method.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard (1...Self.longestMethod).contains(method.utf8.count), isMethod, nonce.map(Self.isNonce) ?? true,
            (1...ServerEndpoint.longest).contains(address.utf8.count)
        else { throw MalformedBytes() }
        self.init(method, address, nonce: nonce, tokenHash: hash)
    }
}

/// 1 ‖ client id ‖ audience ‖ algorithms (1), or 2 ‖ scheme (2) ‖ text
extension IdentityUse: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .assertion(let client, let audience, let algorithms): body.write(tag: 1, client, audience, algorithms)
        case .handshake(let text, let scheme): body.write(tag: 2, scheme, HandshakeText(bytes: text))
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .assertion(clientID: try wire.read(), audience: try wire.read(), algorithms: try wire.algorithms())
        case 2:
            let scheme: UInt16 = try wire.read()
            self = .handshake(text: try wire.read(HandshakeText.self).bytes, scheme: scheme)
        default: throw MalformedBytes()
        }
    }
}

extension WireReader {
    fileprivate mutating func algorithms() throws(MalformedBytes) -> UInt8 {
        let algorithms: UInt8 = try read()
        guard (1...SigningPurpose.allAlgorithms).contains(algorithms) else { throw MalformedBytes() }
        return algorithms
    }
}

/// count (2) ‖ the text of a client's handshake, and no other text
private struct HandshakeText: WireValue {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    func write(to body: inout SecretBuffer) {
        body.write(UInt16(bytes.count))
        body.append(bytes.span)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        bytes = try wire.bytes(Int(try wire.read(UInt16.self)))
        guard SigningPurpose.isHandshake(bytes) || HandshakeTranscript.isOne(bytes) else { throw MalformedBytes() }
    }
}

/// method (1) ‖ audience (1) ‖ pushed requests (1) ‖ optional key ‖ optional endpoint for pushed requests ‖ endpoints
extension ClientProof: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(method.rawValue, audience.rawValue, pushedRequests.rawValue, key, pushedRequestEndpoint)
        body.write(shortList: endpoints)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let method = Method(rawValue: try wire.read()), let audience = Audience(rawValue: try wire.read()),
            let pushed = PushedRequests(rawValue: try wire.read())
        else { throw MalformedBytes() }
        let (key, address): (String?, String?) = (try wire.read(), try wire.read())
        let endpoints: [ServerEndpoint] = try wire.shortList(upTo: ServerEndpoint.Kind.allCases.count)
        guard ServerEndpoint.isOrdered(endpoints) else { throw MalformedBytes() }
        self.init(
            method, key: key, audience: audience, pushedRequests: pushed, pushedRequestEndpoint: address, endpoints: endpoints)
    }

    var texts: [String] { [key, pushedRequestEndpoint].compactMap(\.self) + endpoints.map(\.address) }
}
