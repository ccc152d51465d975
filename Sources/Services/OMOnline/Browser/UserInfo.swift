// The request for claims about the user at a server's userinfo endpoint (OpenID Connect Core, 5.3).

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMJSON
internal import OMOnlineModel

enum UserInfo {
    static let maximumAnswer = 64 << 10

    /// - Throws: ``OnlineFailure/unexpectedAnswer`` for a refusal too: the server has just given the token, so this says nothing
    ///   about the user.
    static func fetch(
        _ address: EndpointURL, access: String, _ proof: KeyProof?, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> UserClaims {
        let answer = try await ask(address, access: access, proof, exchange)
        guard answer.isSuccess else {
            let refusal = HTTPExchange.refusal(answer)
            throw refusal.isDecision ? .failed(.unexpectedAnswer, status: UInt16(answer.status)) : refusal
        }
        guard let members = JSON(answer: answer.body)?.members else { throw .failed(.unexpectedAnswer) }
        return UserClaims(members)
    }

    /// The server's answer, whatever it says.
    static func ask(
        _ address: EndpointURL, access: String, _ proof: KeyProof?, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        // Attack: the token ends the header's line and begins another one.
        guard access.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .failed(.unexpectedAnswer) }
        var request = HTTPClientRequest(url: address.text)
        request.headers.add(name: "Accept", value: "application/json")
        if let proof { return try await proof.fetch(request, access: access, limit: maximumAnswer, exchange) }
        request.headers.add(name: "Authorization", value: "Bearer \(access)")
        return try await exchange.fetch(request, limit: maximumAnswer, readsErrors: false)
    }
}
