// The client certificate of requests. docs/formats/online-protocol.md, "Requests".

internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
internal import OMSecrets

/// A client certificate, and what signs with its key.
package struct RequestIdentity: Sendable {
    let chain: ClientChain
    let signer: any QuestionSigner

    package init(_ chain: ClientChain, signedBy signer: any QuestionSigner) { (self.chain, self.signer) = (chain, signer) }
}

/// A client certificate that goes with a session's requests, and the vault with its key.
struct ShownIdentity: Sendable {
    let chain: ClientChain
    let vault: VaultPaths
}

/// chain ‖ vault
extension ShownIdentity: WireValue {
    func write(to body: inout SecretBuffer) { body.write(chain, vault) }

    init(from wire: inout WireReader) throws(MalformedBytes) { self.init(chain: try wire.read(), vault: try wire.read()) }
}
