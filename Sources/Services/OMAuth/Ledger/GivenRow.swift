// A policy or the endpoints that a server gave, with the time. Format: docs/formats/login-format.md, "What a server gave,
// and when".

internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// A row with the time when a server gave its content. No decision is made from it: it only says how old something is.
/// Only an authentic row is decoded to this type.
struct GivenRow: Hashable, Sendable {
    private static let version: UInt8 = 1
    private static let mostEndpoints = ServerEndpoint.Kind.allCases.count
    /// The longest row: every endpoint, each with the longest address.
    static let maximumCount =
        1 + LoginID.count + 8 + 1 + mostEndpoints * (3 + ServerEndpoint.longest) + MAC.count

    enum Content: Hashable, Sendable {
        case policy(ServerPolicy)
        case endpoints([ServerEndpoint])
    }

    enum Kind { case policy, endpoints }

    let id: LoginID
    /// Seconds since 1970, by this machine's clock.
    let time: Int64
    let content: Content

    init(_ id: LoginID, _ content: Content, at time: Int64) {
        (self.id, self.content) = (id, content)
        self.time = min(max(time, LastSeenTime.range.lowerBound), LastSeenTime.range.upperBound)
    }

    /// Seconds. Nil if the clock is before the time of the row: it was put back, and the age is unknown.
    func age(at now: Int64) -> Int64? { now < time ? nil : now - time }

    static func policyID(origin: String, application: String, _ device: borrowing DeviceKey) -> LoginID {
        id(Context(.givenPolicyID, .text(origin), .text(application)), device)
    }

    /// The id of the row with the endpoints of a server.
    static func endpointsID(_ server: String, _ device: borrowing DeviceKey) -> LoginID {
        id(Context(.givenEndpointsID, .text(server)), device)
    }

    private static func id(_ context: Context, _ device: borrowing DeviceKey) -> LoginID {
        LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }
}

// MARK: - Bytes

extension GivenRow {
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        var bytes: [UInt8] = [Self.version] + id.bytes
        bytes.append(number: UInt64(time))
        switch content {
        case .policy(let policy): bytes += policy.encoded
        case .endpoints(let endpoints):
            bytes.append(UInt8(endpoints.count))
            for endpoint in endpoints {
                let address = Array(endpoint.address.utf8)
                bytes.append(endpoint.kind.rawValue)
                bytes.append(number: UInt16(address.count))
                bytes += address
            }
        }
        return RowSeal.sealed(bytes, as: .givenMAC, at: id, under: device)
    }

    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], _ kind: Kind, under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.maximumCount, as: .givenMAC, at: id, under: device)
        do throws(MalformedBytes) { try self.init(body: body, kind) } catch { throw .quarantined }
        guard self.id == id else { throw .quarantined }
    }

    private init(body: [UInt8], _ kind: Kind) throws(MalformedBytes) {
        let span = body.span
        var cursor = ByteCursor()
        guard try cursor.byte(in: span) == Self.version else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        time = try cursor.time(in: span)
        switch kind {
        case .policy:
            guard let policy = try ServerPolicy.read(&cursor, span) else { throw MalformedBytes() }
            content = .policy(policy)
        case .endpoints: content = .endpoints(try Self.endpoints(&cursor, span))
        }
        try cursor.end(in: span)
    }

    private static func endpoints(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> [ServerEndpoint] {
        let count = Int(try cursor.number(0...UInt8(mostEndpoints), in: span))
        var endpoints: [ServerEndpoint] = []
        for _ in 0..<count {
            guard let kind = ServerEndpoint.Kind(rawValue: try cursor.byte(in: span)) else { throw MalformedBytes() }
            let length = Int(try cursor.number(1...UInt16(ServerEndpoint.longest), in: span))
            let address = try cursor.text(length, in: span)
            guard ServerURL(address) != nil else { throw MalformedBytes() }
            endpoints.append(ServerEndpoint(kind, address))
        }
        guard ServerEndpoint.isOrdered(endpoints) else { throw MalformedBytes() }
        return endpoints
    }
}
