// Requests with a proof of the key to which the session's tokens are bound (RFC 9449). docs/reference/online.md, "Bound tokens".

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMCrypto
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

/// The client's end of the proofs of one question. The key is in another process.
struct KeyProof: Sendable {
    /// The header of a proof, and of a server's nonce for the next one.
    static let header = "DPoP", nonceHeader = "DPoP-Nonce"

    private let signer: any IdentitySigner

    init(_ signer: any IdentitySigner) { self.signer = signer }

    /// Adds the proof for this request.
    ///
    /// - Parameters:
    ///   - access: The access token that goes along.
    ///   - nonce: The nonce that the server has just asked for.
    func sign(_ request: inout HTTPClientRequest, access: [UInt8]? = nil, nonce: String? = nil) async throws(OnlineRefusal) {
        guard request.headers[Self.header].isEmpty else { throw .failed(.unusableHeaders) }
        let hash = try access.map { bytes throws(OnlineRefusal) in try Self.hash(bytes) }
        let address = String(request.url.prefix { $0 != "?" && $0 != "#" })
        guard address.utf8.count <= ServerEndpoint.longest else { throw .failed(.unsafeAddress) }
        let proof = try await signer.sign(
            .proof(KeyProofClaims(request.method.rawValue, address, nonce: nonce, tokenHash: hash)))
        let isText = proof.withBytes { bytes in bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) } }
        guard isText else { throw .failed(.helper) }
        request.headers.add(
            name: Self.header,
            value: proof.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
    }

    private static func hash(_ access: [UInt8]) throws(OnlineRefusal) -> [UInt8] {
        do throws(CryptoError) { return try Digest.of(access, .sha256) } catch { throw .failed(.helper) }
    }

    /// Tells the signer the newest nonce of a server, for later questions.
    func note(_ headers: HTTPHeaders, of address: String) async {
        guard let nonce = Self.nonce(headers) else { return }
        // A lost nonce costs a later request one more try.
        guard let origin = EndpointURL(reading: address)?.origin else { return }
        _ = try? await signer.sign(.nonce(nonce, of: origin))
    }

    /// The nonce of an answer. Nil for none, and for a text that is none.
    static func nonce(_ headers: HTTPHeaders) -> String? {
        headers.first(name: nonceHeader).flatMap { KeyProofClaims.isNonce($0) ? $0 : nil }
    }

    // MARK: - Requests with an access token

    /// Sends a request with the access token, and once more if the server wants a nonce of its own.
    ///
    /// - Throws: ``OnlineFailure/nonceRepeated``, ``OnlineFailure/proofRefused``, and what the exchange throws.
    func fetch(
        _ plain: HTTPClientRequest, access: String, limit: Int, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var plain = plain
        plain.headers.replaceOrAdd(name: "Authorization", value: "\(Self.header) \(access)")
        var nonce: String?
        while true {
            var request = plain
            try await sign(&request, access: Array(access.utf8), nonce: nonce)
            let answer = try await exchange.fetch(request, limit: limit, readsErrors: false)
            switch Self.challenge(answer) {
            case .nonce?:
                // Attack: a server asks for another nonce without end, and the client spends all its proofs there.
                guard nonce == nil, let asked = Self.nonce(answer.headers) else {
                    throw .failed(.nonceRepeated, status: UInt16(clamping: answer.status))
                }
                nonce = asked
            case .refused?: throw .failed(.proofRefused, status: UInt16(clamping: answer.status))
            case nil:
                await note(answer.headers, of: request.url)
                return answer
            }
        }
    }

    enum Challenge: Hashable {
        case nonce
        case refused
    }

    /// What a server says about a proof in `WWW-Authenticate`.
    private static func challenge(_ answer: HTTPResponse) -> Challenge? {
        guard answer.status == 401 || answer.status == 400 else { return nil }
        let challenges = answer.headers["WWW-Authenticate"]
        if challenges.contains(where: { $0.contains("use_dpop_nonce") }) { return .nonce }
        return challenges.contains { $0.contains("invalid_dpop_proof") } ? .refused : nil
    }

    /// Whether a token endpoint wants a nonce of its own (RFC 9449, 8).
    static func asksForNonce(_ answer: HTTPResponse) -> Bool {
        !answer.isSuccess && JSON(answer: answer.body)?.members?["error"]?.text == "use_dpop_nonce"
    }
}
