// The application profile: a server's settings for the logins of one application. docs/reference/online.md, "Application profile".

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMJSON
public import OMOnlineModel

public enum ApplicationProfile {
    static let maximumBytes = 64 << 10

    /// Fetches the profile of `service` from its `ProfileURL`.
    ///
    /// - Throws: ``OnlineFailure/unsafeAddress`` unless the address is https, ``OnlineFailure/unusableProfile`` unless
    ///   it is on the login's own host, and every other refusal of a request to a server.
    public static func fetch(_ service: OnlineService) async throws(OnlineRefusal) -> ServerProfile {
        try await fetch(service, try HTTPExchange(service), timeLimit: service.deadlines.total)
    }

    /// The profile beside a login. It may take the time that is left of the login's deadline, but no longer than a
    /// connection may take: an address that hangs must not slow down each login. The caller decides what a missing
    /// profile means.
    static func fetchIfAny(_ service: OnlineService, _ exchange: HTTPExchange) async -> ProfileAnswer {
        guard service.profile != nil else { return .notAsked }
        do throws(OnlineRefusal) {
            return .given(try await fetch(service, exchange, timeLimit: service.deadlines.connect))
        } catch { return .missing(error) }
    }

    private static func fetch(
        _ service: OnlineService, _ exchange: HTTPExchange, timeLimit: UInt32
    ) async throws(OnlineRefusal) -> ServerProfile {
        let address = try address(of: service)
        var request = HTTPClientRequest(url: address.text)
        request.headers.add(name: "Accept", value: "application/json")
        let answer = try await exchange.fetch(request, limit: maximumBytes, readsErrors: false, timeLimit: timeLimit)
        guard answer.isSuccess else {
            switch HTTPExchange.refusal(answer) {
            // The request asked about no password, so its refusal is no decision.
            case .rejected, .forbidden, .blocked: throw .failed(.unusableProfile, status: UInt16(answer.status))
            case let refusal: throw refusal
            }
        }
        return try read(answer.body)
    }

    /// Attack: an attacker who controls another server sets the number of attempts. The address must be on the login's
    /// own host.
    private static func address(of service: OnlineService) throws(OnlineRefusal) -> EndpointURL {
        guard let text = service.profile, let address = EndpointURL(reading: text), address.isSecure else {
            throw .failed(.unsafeAddress)
        }
        let own =
            switch service.kind {
            case .basic(let basic), .certificate(let basic): basic.login
            case .oauth(let oauth):
                switch oauth.endpoint {
                case .discovery(let text), .token(let text, _): text
                // A login without a password has no policy.
                case .pages: throw .failed(.unusableProfile)
                case .configuration: oauth.issuer ?? ""
                }
            case .oamms(let oamms): oamms.server
            }
        guard let server = EndpointURL(reading: own), server.host == address.host else {
            throw .failed(.unusableProfile)
        }
        return address
    }

    /// Reads an object with an integer `epoch`. Of its other keys it takes those that a server may set, each a text, a
    /// number or a truth value. All other keys are for other clients.
    ///
    /// - Throws: ``OnlineFailure/unusableProfile``.
    static func read(_ bytes: [UInt8]) throws(OnlineRefusal) -> ServerProfile {
        let unusable = OnlineRefusal.failed(.unusableProfile)
        let wanted = Set(ServerProfile.keys + ["epoch", "ApplicationName"])
        guard bytes.count <= maximumBytes, let fields = JSON.flatObject(parsing: bytes.span, only: wanted),
            case .number(let digits)? = fields["epoch"], let epoch = epoch(digits)
        else { throw unusable }
        var values: [String: String] = [:]
        for key in ServerProfile.keys {
            guard let value = fields[key] else { continue }
            // The text that a local profile would have. A number keeps the digits it was written with.
            let text = value.text ?? value.serialized
            guard text.utf8.count <= 256 else { throw unusable }
            values[key] = text
        }
        var application: String?
        if let name = fields["ApplicationName"] {
            guard case .string(let name) = name, !name.isEmpty, name.utf8.count <= 256 else { throw unusable }
            application = name
        }
        return ServerProfile(epoch: epoch, application: application, values: values)
    }

    /// Reads plain digits only. Not every reader takes 7e0 and 7.0 for seven.
    static func epoch(_ digits: String) -> UInt64? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let epoch = UInt64(digits) else { return nil }
        return epoch <= ServerProfile.lastEpoch ? epoch : nil
    }
}
