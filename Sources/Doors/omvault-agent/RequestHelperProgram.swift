// The door of the requests' helper: `omvault-agent --request`. It connects the protocol to the network and keeps no state.

internal import Glibc
internal import OMAgent
internal import OMOnline
internal import OMOnlineModel
internal import OMSecrets

enum RequestHelperProgram {
    static func run() -> Never {
        guard AgentProcess.harden(hidesMemory: true) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        RequestHelper.run(port: { WebRequester.port(of: $0) }, on: { NetworkExecutor.only }) {
            (opening: borrowing RequestOpening, signer: RequestSigner?) throws(OnlineRefusal) in
            let outside = signer.map { OutsideSigner(signer: $0) }
            return Sender(
                requester: try WebRequester(
                    opening.origin, scheme: opening.scheme?.word ?? "", token: opening.token.duplicate(),
                    trusting: opening.trusted,
                    deadlines: OnlineDeadlines(connect: opening.connect, total: RequestOpening.total),
                    showing: signer?.chain, signedBy: outside, provedBy: opening.scheme == .dpop ? outside : nil))
        }
    }
}

private struct Sender: RequestSender {
    let requester: WebRequester

    func send(_ head: RequestHead, for caller: RequestCaller) async throws(OnlineRefusal) {
        let body: WebRequester.Request.Body =
            switch head.body {
            case .none: .none
            case .counted(let count): .counted(count)
            case .endless: .endless
            }
        let headers = head.headers.map { (name: $0.name, value: $0.value) }
        try await requester.send(
            WebRequester.Request(head.method, head.target, headers: headers, body: body, limit: head.limit), for: caller)
    }
}

extension RequestCaller: WebRequester.Caller {}

/// The keys at the other end of the socket for signatures.
private struct OutsideSigner: IdentitySigner {
    let signer: RequestSigner

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes { try await signer.sign(purpose) }
}
