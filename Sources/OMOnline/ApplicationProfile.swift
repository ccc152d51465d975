// The application profile: what a server says about the logins of one application. docs/online.md, "Application profile".

internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOHTTP1
public import OMRecords

public enum ApplicationProfile {
    static let maximumBytes = 64 << 10

    /// Fetches the profile of `service` from its `ProfileURL`.
    ///
    /// - Throws: ``OnlineFailure/unsafeAddress`` unless it is https, ``OnlineFailure/unusableProfile`` unless it is on the
    ///   login's own host, and what else may go wrong with a server.
    public static func fetch(_ service: OnlineService) async throws(OnlineRefusal) -> ServerProfile {
        try await fetch(service, try Flight(service))
    }

    /// The profile beside a login. One that cannot be had changes nothing: what the server said before still counts.
    static func fetchIfAny(_ service: OnlineService, _ flight: Flight) async -> ServerProfile? {
        guard service.profile != nil else { return nil }
        return try? await fetch(service, flight)
    }

    private static func fetch(_ service: OnlineService, _ flight: Flight) async throws(OnlineRefusal) -> ServerProfile {
        let address = try address(of: service)
        var request = HTTPClientRequest(url: address.text)
        request.headers.add(name: "Accept", value: "application/json")
        let answer = try await flight.fetch(request, limit: maximumBytes, readsErrors: false)
        guard answer.isSuccess else {
            switch Flight.refusal(answer) {
            // Nobody was asked about a password.
            case .rejected, .forbidden, .blocked: throw .failed(.unusableProfile, status: UInt16(answer.status))
            case let refusal: throw refusal
            }
        }
        return try read(answer.body)
    }

    /// Attack: who may write to some other server sets the number of attempts.
    private static func address(of service: OnlineService) throws(OnlineRefusal) -> WebAddress {
        guard let text = service.profile, let address = WebAddress(reading: text), address.isSecure else {
            throw .failed(.unsafeAddress)
        }
        let own =
            switch service.kind {
            case .basic(let basic): basic.login
            case .oauth(let oauth):
                switch oauth.endpoint {
                case .discovery(let text), .token(let text, _): text
                }
            }
        guard let server = WebAddress(reading: own), server.host == address.host else {
            throw .failed(.unusableProfile)
        }
        return address
    }

    /// An object with an integer `epoch`; of the others the keys that a server may set, each a text, a number or a truth
    /// value. Other keys are for other clients.
    ///
    /// - Throws: ``OnlineFailure/unusableProfile``.
    static func read(_ bytes: [UInt8]) throws(OnlineRefusal) -> ServerProfile {
        guard bytes.count <= maximumBytes,
            let fields = try? JSONDecoder().decode([String: Value].self, from: Data(bytes)),
            case .number(let epoch)? = fields["epoch"], epoch >= 0, epoch.rounded() == epoch, epoch < 9e15
        else { throw .failed(.unusableProfile) }
        var values: [String: String] = [:]
        for key in ServerProfile.keys {
            guard let value = fields[key] else { continue }
            guard let text = value.text, text.utf8.count <= 256 else { throw .failed(.unusableProfile) }
            values[key] = text
        }
        var application: String?
        if let name = fields["ApplicationName"] {
            guard case .text(let name) = name, !name.isEmpty, name.utf8.count <= 256 else {
                throw .failed(.unusableProfile)
            }
            application = name
        }
        return ServerProfile(epoch: UInt64(epoch), application: application, values: values)
    }

    private enum Value: Decodable {
        case text(String)
        case number(Double)
        case truth(Bool)
        case other

        init(from decoder: any Decoder) throws {
            guard let value = try? decoder.singleValueContainer() else {
                self = .other
                return
            }
            if let truth = try? value.decode(Bool.self) {
                self = .truth(truth)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }

        /// As a local profile would have it.
        var text: String? {
            switch self {
            case .text(let text): text
            case .truth(let truth): truth ? "true" : "false"
            case .number(let number):
                number.rounded() == number && abs(number) < 9e15 ? String(Int64(number)) : String(number)
            case .other: nil
            }
        }
    }
}
