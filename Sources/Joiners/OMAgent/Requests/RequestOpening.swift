// The first frame of a requests' helper. Format: docs/formats/online-protocol.md, "Requests".

internal import OMAgentProtocol
internal import OMAuth
package import OMOnlineModel
package import OMRecords
package import OMSecrets

/// What a helper needs before the first request: the only origin that it sends to, and the token that it adds.
package struct RequestOpening: ~Copyable, Sendable {
    /// How long one request may take with its answer, in milliseconds.
    package static let total: UInt32 = 300_000
    /// After how long a helper ends in any case, in milliseconds. The longest request ends before, and so is known to be late.
    package static let life: UInt32 = total + 10_000
    /// How long it may wait for the next request, in milliseconds.
    package static let idle: Int64 = 5_000
    /// The most requests of one helper.
    package static let mostRequests: UInt32 = 1_000
    static let maximumBody = 2 << 20

    /// The word before the token in the header `Authorization`.
    package enum Scheme: UInt8, Sendable {
        case bearer = 1
        case gate = 2
        /// With a proof of the session's key.
        case dpop = 3

        package var word: String {
            switch self {
            case .bearer: "Bearer"
            case .gate: "OAM-Auth"
            case .dpop: "DPoP"
            }
        }
    }

    package let origin: String
    /// Nil for requests without a token.
    package let scheme: Scheme?
    /// Empty for none.
    package let token: SecretBytes
    /// The only trusted certificates, as PEM. If nil, the system's certificates are trusted.
    package let trusted: [UInt8]?
    /// Milliseconds until a connection is established.
    package let connect: UInt32
    /// The client's certificate. Nil: none is shown.
    package let chain: ClientChain?

    /// Whether keys sign for the helper, over a socket that comes with the opening.
    var needsSignatures: Bool { chain != nil || scheme == .dpop }

    package init(
        _ origin: String, _ scheme: Scheme? = nil, token: consuming SecretBytes? = nil, trusted: [UInt8]?, connect: UInt32,
        chain: ClientChain? = nil
    ) {
        self.chain = chain
        (self.origin, self.scheme, self.trusted, self.connect) = (origin, scheme, trusted, connect)
        self.token = token ?? SecretBytes(copying: [])
    }

    /// Nil if a part is longer than the protocol allows.
    borrowing func encoded() -> SecretBuffer? {
        guard origin.utf8.count <= UInt16.max, token.count <= AccessToken.longest,
            trusted?.count ?? 0 <= OnlineQuestion.maximumTrustedBytes
        else { return nil }
        var body = SecretBuffer()
        body.write(origin, scheme)
        if scheme != nil { body.write(token) }
        body.write(trusted.map { SecretBytes(copying: $0) })
        body.write(connect, chain)
        return body
    }

    /// - Throws: For a body that is not exactly what docs/formats/online-protocol.md allows.
    package init(decoding bytes: Span<UInt8>) throws(MalformedBytes) {
        var wire = WireReader(bytes)
        let (origin, scheme): (String, Scheme?) = (try wire.read(), try wire.read())
        let token = scheme == nil ? SecretBytes(copying: []) : try wire.secret(upTo: AccessToken.longest)
        guard scheme == nil || token.count > 0 else { throw MalformedBytes() }
        var trusted: [UInt8]?
        if try wire.read(Bool.self) {
            let pem = try wire.secret(upTo: OnlineQuestion.maximumTrustedBytes)
            trusted = pem.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        }
        let connect: UInt32 = try wire.read()
        guard OnlineDeadlines.range.contains(connect) else { throw MalformedBytes() }
        let chain: ClientChain? = try wire.read()
        try wire.end()
        self.init(origin, scheme, token: token, trusted: trusted, connect: connect, chain: chain)
    }
}

extension RequestOpening.Scheme: WireValue {}
