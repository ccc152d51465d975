// The answer to a helper's request for a signature. Format: docs/formats/online-protocol.md, "Signatures".

internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// The keys that may sign for one helper.
struct HelperKeys: Sendable {
    /// Signs with identities of the user's vault. Nil without one.
    let signer: (any QuestionSigner)?
    /// The key to which the session's tokens are bound. Nil without one.
    let token: TokenKey?

    /// Makes the signature of a purpose that a ``SignatureBudget`` allows, or says why there is none.
    func answer(_ content: SignatureContent, of id: [UInt8], over channel: borrowing FrameChannel) throws(ChannelError) {
        var body = SecretBuffer()
        body.write(WireID(id))
        let kind: FrameKind
        do throws(OnlineRefusal) {
            body.write(try signature(content))
            kind = .signature
        } catch {
            body.write(error.signingProblem)
            kind = .noSignature
        }
        try channel.send(kind, body, within: AgentProtocol.frameTime)
    }

    private func signature(_ content: SignatureContent) throws(OnlineRefusal) -> SecretBytes {
        switch content {
        case .use(let use, let identity):
            guard let signer else { throw .failed(.unusableClientKey) }
            return try signer.sign(use, with: identity)
        case .noAudience: throw .failed(.unusableClientKey)
        case .proof(let claims):
            guard let token else { throw .failed(.unusableClientKey) }
            return try token.prove(claims, now: ClockReading.now().wall)
        case .nonce(let nonce, let address):
            token?.note(nonce, of: address)
            return SecretBytes(copying: Array(nonce.utf8))
        }
    }
}
