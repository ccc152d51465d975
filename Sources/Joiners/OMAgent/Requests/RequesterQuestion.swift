internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

/// A question for a helper that sends requests to one origin with a session's access token.
struct RequesterQuestion: Sendable {
    let login: LoginReference
    /// As ``ServerURL/origin``.
    let origin: String
    let token: TokenQuestion
    /// The mark of a token that a server refused. Nil for none.
    let refused: [UInt8]?
    /// The certificate that the helper shows. A session whose tokens are bound to one shows that.
    var identity: ShownIdentity? = nil
}

/// login ‖ origin ‖ token question ‖ optional mark (16) ‖ optional identity
extension RequesterQuestion: WireValue {
    func write(to body: inout SecretBuffer) { body.write(login, origin, token, refused.map { WireID($0) }, identity) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            login: try wire.read(), origin: try wire.read(), token: try wire.read(), refused: try wire.read(WireID?.self)?.bytes,
            identity: try wire.read())
    }
}
