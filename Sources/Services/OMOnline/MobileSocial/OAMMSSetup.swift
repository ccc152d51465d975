// The application profile of the Mobile and Social service: its addresses and the server's settings. The names of its members
// are ours: docs/reference/online.md, "Mobile and Social".

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

struct OAMMSSetup: Sendable {
    private static let root = "/oic_rest/rest"

    /// Nil if the service takes passwords without a registration.
    let register: EndpointURL?
    let authenticate: EndpointURL
    let access: EndpointURL?
    let validate: EndpointURL
    let delete: EndpointURL?
    /// The addresses that the profile itself names. Empty if they are the usual ones.
    let named: [ServerEndpoint]
    /// The claims about a device that the server asks for.
    let claims: [String]
    /// The server's settings. ``ProfileAnswer/notAsked`` over http, which authenticates no server.
    let policy: ProfileAnswer

    /// Fetches the application profile. The request has no password.
    static func fetch(
        _ oamms: OAMMSService, _ device: DeviceClaims, sending headers: [OnlineService.Header], _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> OAMMSSetup {
        let base = try base(oamms)
        let query = [
            ("osType", device.system), ("osVer", device.version), ("clientSDKVersion", DeviceClaims.sdkVersion),
            ("serviceDomain", oamms.serviceDomain),
        ]
        let path = "/AppProfiles/\(escaped(oamms.application))?" + query.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
        var request = HTTPClientRequest(url: try EndpointURL(base.text + path).text)
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        if !request.headers.contains(name: "Accept") { request.headers.add(name: "Accept", value: "application/json") }
        let answer = try await exchange.fetch(request, limit: ApplicationProfile.maximumBytes, readsErrors: false)
        guard answer.isSuccess else {
            if answer.status == 404 { throw .failed(.noService, status: 404) }
            switch HTTPExchange.refusal(answer) {
            // The request asked about no password, so its refusal is no decision.
            case .rejected, .forbidden, .blocked: throw .failed(.unusableProfile, status: UInt16(answer.status))
            case let refusal: throw refusal
            }
        }
        return try OAMMSSetup(answer.body, of: oamms)
    }

    /// The address that all of the service's own begin with.
    static func base(_ oamms: OAMMSService) throws(OnlineRefusal) -> EndpointURL {
        guard !oamms.server.contains("?") else { throw .failed(.unsafeAddress) }
        let server = oamms.server.hasSuffix("/") ? String(oamms.server.dropLast()) : oamms.server
        return try EndpointURL(server + root)
    }

    static func escaped(_ text: String) -> String {
        var escaped = SecretBuffer()
        FormBody.escape(text.utf8Span.span, into: &escaped)
        return escaped.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    /// Reads the members that are known and ignores the others. Without `services` the addresses are the usual ones of a
    /// mobile service.
    ///
    /// - Throws: ``OnlineFailure/unusableProfile`` for bytes that are no JSON object, for a profile of another
    ///   application, and for a service without an address on this server.
    init(_ bytes: [UInt8], of oamms: OAMMSService) throws(OnlineRefusal) {
        let unusable = OnlineRefusal.failed(.unusableProfile)
        let base = try Self.base(oamms)
        guard let members = JSON(answer: bytes)?.members else { throw unusable }
        if let name = members["name"], name != .string(oamms.application) { throw unusable }
        let usual = base.text + "/mobileoamauthentication"
        let checking = base.text + "/jwtoamauthentication/tokens/info"
        if let services = members["services"] {
            guard let services = services.members else { throw unusable }
            func address(_ name: String) throws(OnlineRefusal) -> EndpointURL? {
                guard let value = services[name], value != .null else { return nil }
                guard let text = value.text, let address = Self.own(text, base) else { throw unusable }
                return address
            }
            guard let authenticate = try address("authenticate") else { throw unusable }
            self.authenticate = authenticate
            (register, access, delete) = (try address("register"), try address("access"), try address("delete"))
            let given = try address("validate")
            if let given { validate = given } else { validate = try EndpointURL(checking) }
            let all: [(ServerEndpoint.Kind, EndpointURL?)] = [
                (.registration, register), (.authentication, authenticate), (.access, access), (.validation, given),
                (.deletion, delete),
            ]
            named = all.compactMap { kind, address in address.map { ServerEndpoint(kind, $0.text) } }
        } else {
            (register, authenticate) = (try EndpointURL(usual + "/register"), try EndpointURL(usual + "/authenticate"))
            (access, validate) = (try EndpointURL(usual + "/access"), try EndpointURL(checking))
            // No source says where the service ends a session.
            delete = nil
            named = []
        }
        claims = members["mobileAppConfig"]?.members?["claimAttributes"]?.texts ?? []
        policy = base.isSecure ? Self.policy(members, oamms) : .notAsked
    }

    /// Attack: the profile sends passwords to another server. Its addresses must be on the profile's own server: a path, or
    /// an address with the same scheme, host and port.
    static func own(_ text: String, _ base: EndpointURL) -> EndpointURL? {
        let isPath = text.hasPrefix("/") && !text.hasPrefix("//")
        guard let address = EndpointURL(reading: isPath ? base.origin + text : text), address.hasOrigin(of: base) else {
            return nil
        }
        return address
    }

    private static func policy(_ members: [String: JSON], _ oamms: OAMMSService) -> ProfileAnswer {
        let unusable = ProfileAnswer.missing(.failed(.unusableProfile))
        let custom = members["customAttributes"]?.members ?? [:]
        let given = [
            "OfflineAuthAllowed": members["offlineAuthAllowed"], "MaxLoginAttempts": members["maxLoginAttempts"],
            "CryptoScheme": custom["CryptoScheme"], "LocationUpdateEnabled": custom["LocationUpdateEnabled"],
        ]
        var values: [String: String] = [:]
        for case (let key, let value?) in given where value != .null {
            switch value {
            case .string(let text), .number(let text): values[key] = text
            case .bool(let flag): values[key] = "\(flag)"
            case .null, .array, .object: return unusable
            }
            guard values[key, default: ""].utf8.count <= 256 else { return unusable }
        }
        var epoch: UInt64 = 0
        if let said = members["epoch"] {
            guard case .number(let digits) = said, let number = ApplicationProfile.epoch(digits) else { return unusable }
            epoch = number
        }
        return .given(ServerProfile(epoch: epoch, application: oamms.application, values: values))
    }
}
