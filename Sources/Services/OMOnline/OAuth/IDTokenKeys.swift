// The keys that sign ID tokens, fetched from the issuer.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMCrypto
internal import OMOnlineModel
internal import OMSecrets

/// The key set of an issuer. Its request has no credential, and its content is never shown.
struct IDTokenKeys: Sendable {
    let address: EndpointURL
    /// The algorithms that the issuer says it signs with.
    let algorithms: Set<JWSAlgorithm>

    func fetch(_ exchange: HTTPExchange) async throws(OnlineRefusal) -> JWKSet {
        var request = HTTPClientRequest(url: address.text)
        request.headers.add(name: "Accept", value: "application/jwk-set+json, application/json")
        let answer = try await exchange.fetch(request, limit: JWKSet.maximumCount, readsErrors: false)
        guard answer.isSuccess else {
            let refusal = HTTPExchange.refusal(answer)
            // This request asked about no user, so its refusal must not count as a decision.
            if refusal.isDecision { throw .failed(.unusableKeySet, status: UInt16(answer.status)) }
            throw refusal
        }
        do throws(CryptoError) { return try JWKSet(answer.body) } catch { throw .failed(.unusableKeySet) }
    }

    /// The token with its payload, if one of the issuer's keys signed it. The set is fetched once more for a key that it does not
    /// have: the issuer may have a new one.
    ///
    /// - Throws: ``OnlineFailure/unusableIDToken``, ``OnlineFailure/unusableKeySet``.
    func verified(_ text: String, _ exchange: HTTPExchange) async throws(OnlineRefusal) -> VerifiedJWS {
        let token: JWS
        do throws(CryptoError) { token = try JWS(SecretBytes(copying: Array(text.utf8))) } catch {
            throw .failed(.unusableIDToken)
        }
        let first = try await fetch(exchange)
        do throws(CryptoError) { return try token.verified(by: first, allowing: algorithms) } catch {
            guard error == .unknownKeyID else { throw .failed(.unusableIDToken) }
        }
        let second = try await fetch(exchange)
        do throws(CryptoError) { return try token.verified(by: second, allowing: algorithms) } catch {
            throw .failed(.unusableIDToken)
        }
    }
}
