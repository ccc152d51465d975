// A server's answer that begins a login by another device (RFC 8628, 3.2).

internal import OMJSON
internal import OMOnlineModel

struct DeviceAuthorization: Sendable {
    /// The longest time that a user code may count, in seconds.
    static let longestLife: Int64 = 1_800
    /// The interval without the server's own, in seconds (RFC 8628, 3.2).
    static let usualInterval: Int64 = 5
    private static let longestUserCode = 64
    private static let longestDeviceCode = 4096

    let deviceCode: String
    let userCode: String
    /// Where the person types the code.
    let address: ShownAddress
    /// The same address with the code in it.
    let whole: ShownAddress?
    /// How long the code counts, in seconds.
    let life: Int64
    /// Seconds between two questions.
    let interval: Int64

    /// - Throws: the refusal of a token endpoint; ``OnlineFailure/unexpectedAnswer`` for an answer that cannot be shown;
    ///   ``OnlineFailure/codeExpired`` for a code that never counted.
    init(_ answer: HTTPResponse) throws(OnlineRefusal) {
        guard answer.isSuccess, let members = JSON(answer: answer.body)?.members, members["error"] == nil else {
            _ = try TokenResponse(answer, sendsPassword: false)
            throw .failed(.unexpectedAnswer, status: UInt16(clamping: answer.status))
        }
        let address = (members["verification_uri"] ?? members["verification_url"])?.text
        guard let deviceCode = members["device_code"]?.text, Self.isPrintable(deviceCode, Self.longestDeviceCode),
            let userCode = members["user_code"]?.text, Self.isPrintable(userCode, Self.longestUserCode),
            let address = address.flatMap(ShownAddress.init)
        else { throw .failed(.unexpectedAnswer) }
        (self.deviceCode, self.userCode, self.address) = (deviceCode, userCode, address)
        whole = try Self.whole(members)
        life = try Self.seconds("expires_in", members).map { min(max($0, 0), Self.longestLife) } ?? Self.longestLife
        guard life > 0 else { throw .failed(.codeExpired) }
        interval = try Self.seconds("interval", members).map { min(max($0, 1), Self.longestLife) } ?? Self.usualInterval
    }

    /// Whether both addresses are at origins that the profile allows.
    func isAllowed(by oauth: OAuthService) -> Bool {
        let origins = oauth.pageOrigins(oauth.browser?.device).compactMap(EndpointURL.init(reading:))
        return [address, whole].compactMap(\.self).allSatisfy { page in origins.contains { $0.hasOrigin(of: page.url) } }
    }

    /// What the person has to do.
    var step: BrowserStep {
        .enter(code: userCode, address: address.text, whole: whole?.text, seconds: UInt32(life))
    }

    private static func whole(_ members: [String: JSON]) throws(OnlineRefusal) -> ShownAddress? {
        guard let text = members["verification_uri_complete"]?.text, !text.isEmpty else { return nil }
        guard let address = ShownAddress(text) else { throw .failed(.unexpectedAnswer) }
        return address
    }

    private static func isPrintable(_ text: String, _ longest: Int) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// A number of seconds, in quotes or not. Nil if there is none.
    private static func seconds(_ name: String, _ members: [String: JSON]) throws(OnlineRefusal) -> Int64? {
        switch members[name] {
        case nil, .null?: return nil
        case .number(let digits)?, .string(let digits)?:
            guard let seconds = Double(digits), seconds.isFinite else { throw .failed(.unexpectedAnswer) }
            return Int64(min(max(seconds, -1), 1e9))
        default: throw .failed(.unexpectedAnswer)
        }
    }
}
