// The client's certificate in the handshakes of one question. docs/reference/online.md, "Client certificates".

internal import NIOCore
internal import NIOSSL
internal import OMCrypto
internal import OMOnlineModel
internal import OMSecrets
internal import Synchronization

/// A certificate chain whose private key is in another process. The TLS library asks it for each signature.
final class ShownCertificate: Sendable {
    private struct State {
        var isShown = false
        var refusal: OnlineRefusal?
    }

    private let chain: [NIOSSLCertificate]
    private let allowsTLS12: Bool
    private let origins: [EndpointURL]
    private let signer: any IdentitySigner
    private let state = Mutex(State())
    let signatureAlgorithms: [NIOSSL.SignatureAlgorithm]

    /// - Throws: ``OnlineFailure/unusableCertificate``.
    convenience init(_ chain: ClientChain, of service: OnlineService, signedBy signer: any IdentitySigner) throws(OnlineRefusal) {
        try self.init(
            chain, at: service.certificateOrigins.compactMap { EndpointURL(reading: $0) }, signedBy: signer)
    }

    /// - Parameter origins: Those that get the certificate.
    /// - Throws: ``OnlineFailure/unusableCertificate``.
    init(_ chain: ClientChain, at origins: [EndpointURL], signedBy signer: any IdentitySigner) throws(OnlineRefusal) {
        let kind: KeyKind
        do {
            self.chain = try chain.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
            kind = try Certificate(der: chain.certificates[0]).description().keyKind
        } catch { throw .failed(.unusableCertificate) }
        guard let algorithms = Self.algorithms(kind) else { throw .failed(.unusableCertificate) }
        (signatureAlgorithms, allowsTLS12) = (algorithms, chain.allowsTLS12)
        (self.origins, self.signer) = (origins, signer)
    }

    /// The schemes of TLS 1.3 (RFC 8446, 4.2.3), the server's choice. Nil for a key that has none.
    private static func algorithms(_ kind: KeyKind) -> [NIOSSL.SignatureAlgorithm]? {
        switch kind {
        case .rsa: [.rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512]
        case .ec(.p256): [.ecdsaSecp256R1Sha256]
        case .ec(.p384): [.ecdsaSecp384R1Sha384]
        case .ec(.p521): [.ecdsaSecp521R1Sha512]
        case .ed25519: [.ed25519]
        case .x25519: nil
        }
    }

    /// Whether a connection to the address shows the certificate.
    ///
    /// Attack: a server leads the client to another host, which learns who the user is. So only the profile's own origins get it.
    func goes(to address: EndpointURL) -> Bool {
        address.isSecure && origins.contains { $0.hasOrigin(of: address) }
    }

    /// Whether a server asked for it, and got it with a signature.
    var wasShown: Bool { state.withLock { $0.isShown } }

    /// Why there was no signature. Nil if there was one, or if none was asked for.
    var refusal: OnlineRefusal? { state.withLock { $0.refusal } }

    /// The settings of connections that show it.
    ///
    /// Attack: in TLS 1.2 others on the network can read the certificate, and so who the user is. The signed text is also whatever the
    /// two sides said, and no fixed prefix separates it from other texts. So the profile must ask for TLS 1.2.
    func configure(_ trust: inout TLSConfiguration) {
        trust.minimumTLSVersion = allowsTLS12 ? .tlsv12 : .tlsv13
        trust.certificateChain = chain.map { .certificate($0) }
        trust.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: self))
        // Attack: a server asks for the certificate after it got a request, and binds that request to the user.
        trust.renegotiationSupport = .none
    }
}

extension ShownCertificate: NIOSSLCustomPrivateKey {
    private struct NoSignature: Error {}

    func sign(
        channel: any Channel, algorithm: NIOSSL.SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        let promise = channel.eventLoop.makePromise(of: ByteBuffer.self)
        promise.completeWithTask { [signer] in
            do throws(OnlineRefusal) {
                let signature = try await signer.sign(Self.purpose(Array(buffer: data), scheme: algorithm.rawValue))
                self.state.withLock { $0.isShown = true }
                return signature.requestBody()
            } catch {
                self.state.withLock { $0.refusal = error }
                throw NoSignature()
            }
        }
        return promise.futureResult
    }

    /// Attack: a server of TLS 1.2 sends so many certificates that their handshake fits into no question for a signature.
    static func purpose(_ text: [UInt8], scheme: UInt16) throws(OnlineRefusal) -> SigningPurpose {
        guard text.count <= SigningPurpose.longestText else { throw .untrusted(.handshake) }
        return .handshake(text: text, scheme: scheme)
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(NoSignature())
    }
}

extension ShownCertificate: Hashable {
    static func == (one: ShownCertificate, other: ShownCertificate) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension SecretBytes {
    /// A copy for the network library, of bytes that the server gets in clear.
    fileprivate borrowing func requestBody() -> ByteBuffer {
        withBytes { bytes in ByteBuffer(bytes: bytes.indices.map { bytes[$0] }) }
    }
}

extension OnlineService {
    /// The origins that get the client's certificate: those of the profile's own addresses.
    var certificateOrigins: [String] {
        switch kind {
        case .basic(let basic), .certificate(let basic): return [basic.login] + (basic.logout.map { [$0] } ?? [])
        case .oamms: return []
        case .oauth(let oauth):
            let pages = [oauth.browser?.device, oauth.browser?.keySet, oauth.browser?.userInfo].compactMap(\.self)
            return switch oauth.endpoint {
            case .discovery, .configuration: oauth.documentOrigins ?? []
            case .token(let token, let revocation): [token] + [revocation].compactMap(\.self) + oauth.origins + pages
            case .pages(let revocation): [revocation].compactMap(\.self) + oauth.origins + pages
            }
        }
    }
}
