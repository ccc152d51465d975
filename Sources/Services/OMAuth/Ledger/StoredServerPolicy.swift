// A server's policy that set-up saw, stored for later logins. Format: docs/formats/login-format.md, "A policy that set-up saw".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// A row with a policy that belongs to no user. Only an authentic row is decoded to this type.
struct StoredServerPolicy: Hashable, Sendable {
    private static let version: UInt8 = 1
    private static let count = 1 + LoginID.count + ServerPolicy.maximumCount + MAC.count

    let id: LoginID
    let policy: ServerPolicy

    static func id(origin: String, application: String, _ device: borrowing DeviceKey) -> LoginID {
        let context = Context(.policyID, .text(origin), .text(application))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }
}

extension StoredServerPolicy {
    func encode(under device: borrowing DeviceKey) -> [UInt8] {
        RowSeal.sealed([Self.version] + id.bytes + policy.encoded, as: .policyMAC, at: id, under: device)
    }

    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    init(_ bytes: [UInt8], under id: LoginID, _ device: borrowing DeviceKey) throws(AuthError) {
        let body = try RowSeal.open(bytes, atMost: Self.count, as: .policyMAC, at: id, under: device)
        do throws(MalformedBytes) { try self.init(body: body) } catch { throw .quarantined }
        guard self.id == id else { throw .quarantined }
    }

    private init(body: [UInt8]) throws(MalformedBytes) {
        let span = body.span
        var cursor = ByteCursor()
        guard try cursor.byte(in: span) == Self.version else { throw MalformedBytes() }
        id = LoginID(try cursor.take(LoginID.count, in: span))
        guard let policy = try ServerPolicy.read(&cursor, span) else { throw MalformedBytes() }
        self.policy = policy
        try cursor.end(in: span)
    }
}
