// One try of a client certificate at an address: without it, and with it. docs/reference/online.md, "Client certificates".

internal import AsyncHTTPClient
public import OMOnlineModel

public struct CertificateTrialProvider: Sendable {
    private let service: OnlineService
    private let address: String
    private let signer: any IdentitySigner

    /// - Parameter signer: Signs with the private key of the service's certificate.
    public init(_ service: OnlineService, at address: String, signer: any IdentitySigner) {
        (self.service, self.address, self.signer) = (service, address, signer)
    }

    /// Asks for the page twice, and says what the server did. Nothing but the certificate is sent.
    public func run() async throws(OnlineRefusal) -> OnlineGrant {
        let address = try EndpointURL(address)
        guard address.isSecure else { throw .failed(.unsafeAddress) }
        let without = try await answer(at: address, by: try HTTPExchange(service))
        let exchange = try HTTPExchange(service, signer)
        let with = try await answer(at: address, by: exchange)
        let isAsked = exchange.wasAskedForCertificate
        // 400 and 401 have other reasons too. They count if the certificate made a difference.
        let isDemanded = without.refuses || [400, 401].contains(without.status) && without.status != with.status
        return OnlineGrant(
            of: CertificateTrial(
                isAsked ? isDemanded ? .demanded : .optional : .never, without: without.outcome, with: with.outcome,
                isAccepted: isAsked && !with.refuses, isTLS13: exchange.isTLS13))
    }

    private static let longestPage = 4 << 20

    private struct Answer {
        let outcome: CertificateTrial.Outcome
        /// Whether it is about the certificate, or about the lack of one.
        let refuses: Bool

        var status: UInt16? { if case .status(let status) = outcome { status } else { nil } }
    }

    private func answer(at address: EndpointURL, by exchange: HTTPExchange) async throws(OnlineRefusal) -> Answer {
        do throws(OnlineRefusal) {
            let answer = try await exchange.fetch(
                HTTPClientRequest(url: address.text), limit: Self.longestPage, readsErrors: true)
            return Answer(
                outcome: .status(UInt16(clamping: answer.status)),
                refuses: answer.status == 403 || CertificateRefusal.isIn(answer))
        } catch {
            guard case .failed(.certificateRefused, let status, _) = error else { throw error }
            return Answer(outcome: status.map { .status($0) } ?? .alert, refuses: true)
        }
    }
}
