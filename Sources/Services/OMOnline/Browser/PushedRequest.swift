// A server's answer to a pushed authorization request (RFC 9126, 2.2).

internal import OMJSON
internal import OMOnlineModel

struct PushedRequest: Sendable {
    private static let longestName = 2_048

    /// `request_uri`: the server's name for the request. It is no address, and this side asks nothing there.
    let name: String

    /// - Throws: the refusal of a token endpoint; ``OnlineFailure/unexpectedAnswer``; ``OnlineFailure/requestExpired`` for a name that
    ///   never counted.
    init(_ answer: HTTPResponse) throws(OnlineRefusal) {
        guard answer.isSuccess, let members = JSON(answer: answer.body)?.members, members["error"] == nil else {
            _ = try TokenResponse(answer, sendsPassword: false)
            throw .failed(.unexpectedAnswer, status: UInt16(clamping: answer.status))
        }
        guard let name = members["request_uri"]?.text, (1...Self.longestName).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .failed(.unexpectedAnswer) }
        if case .number(let digits)? = members["expires_in"], let seconds = Double(digits), seconds <= 0 {
            throw .failed(.requestExpired)
        }
        self.name = name
    }
}
