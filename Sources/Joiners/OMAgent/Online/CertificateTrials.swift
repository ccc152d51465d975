// The try of a client certificate, through a process that has no key.

internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
internal import OMSecrets

extension OnlineProvider {
    /// Asks a server for a page without the provider's certificate, and with it.
    ///
    /// - Parameter trusted: The only trusted certificates of the server, as PEM. If nil, the system's certificates are trusted.
    package func tryCertificate(at address: String, trusting trusted: [UInt8]?) throws(OnlineRefusal) -> CertificateTrial {
        guard let chain else { throw .failed(.unusableCertificate) }
        let service = OnlineService(.certificate(BasicService(login: address)), trusted: trusted, chain: chain)
        let acceptance = try ask(.tryCertificate(of: service), OnlineCancellation()).get()
        guard let trial = acceptance.trial else { throw .failed(.helper) }
        return trial
    }
}

/// asking (1) ‖ without ‖ with ‖ accepted ‖ TLS 1.3
extension CertificateTrial: WireValue {
    func write(to body: inout SecretBuffer) { body.write(asking, without, with, isAccepted, isTLS13) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let asking: Asking = try wire.read()
        let (without, with): (Outcome, Outcome) = (try wire.read(), try wire.read())
        let (isAccepted, isTLS13): (Bool, Bool) = (try wire.read(), try wire.read())
        guard !isAccepted || asking != .never else { throw MalformedBytes() }
        self.init(asking, without: without, with: with, isAccepted: isAccepted, isTLS13: isTLS13)
    }
}

extension CertificateTrial.Asking: WireValue {}

/// 0, or 1 ‖ status (2)
extension CertificateTrial.Outcome: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .alert: body.write(tag: 0)
        case .status(let status): body.write(tag: 1, status)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .alert
        case 1: self = .status(try wire.read())
        default: throw MalformedBytes()
        }
    }
}
