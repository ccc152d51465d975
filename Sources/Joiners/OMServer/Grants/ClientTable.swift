#if Server
// Clients with a secret. docs/formats/server-protocol.md, "Grants".

internal import OMSecrets
package import OMServerStore

package struct Client: Hashable, Sendable {
    package let id: String
    package let scopes: Set<Scope>
    package let created: Int64

    /// The public client: it has no secret, and may ask for every scope.
    package static let omvault = Client(id: "omvault", scopes: Set(Scope.allCases), created: 0)

    /// 1 to 64 letters, digits, dots, hyphens and underscores.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}

package enum ClientTable {
    /// Makes a client.
    ///
    /// - Returns: Its secret, which is shown once. Nil if the id is in use.
    package static func add(
        _ id: String, _ scopes: Set<Scope>, now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) -> String? {
        guard id != Client.omvault.id else { return nil }
        let secret = TokenText.makeClientSecret()
        let row = try transaction.row(
            """
            INSERT INTO client (id, secret, scopes, created) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING \
            RETURNING created
            """, .text(id), .bytes(TokenText.digest(secret)), .text(Scope.text(scopes)), .number(now))
        return row == nil ? nil : secret
    }

    /// The client with this id, if its secret has this digest.
    static func find(
        _ id: String, secretDigest: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Client? {
        guard let row = try transaction.row("SELECT secret, scopes, created FROM client WHERE id = ?1", .text(id)) else {
            return nil
        }
        let stored = try row.bytes(0)
        guard ConstantTime.areEqual(stored.span, secretDigest.span) else { return nil }
        guard let scopes = Scope.set(try row.text(1)) else { throw .damaged }
        return Client(id: id, scopes: scopes, created: try row.number(2))
    }

    package static func all(_ transaction: any StoreTransaction) throws(StoreError) -> [Client] {
        var clients: [Client] = []
        for row in try transaction.rows("SELECT id, scopes, created FROM client ORDER BY id") {
            guard let scopes = Scope.set(try row.text(1)) else { throw .damaged }
            clients.append(Client(id: try row.text(0), scopes: scopes, created: try row.number(2)))
        }
        return clients
    }

    /// Removes a client with its grants.
    package static func remove(_ id: String, _ transaction: any StoreTransaction) throws(StoreError) -> Bool {
        guard try transaction.row("DELETE FROM client WHERE id = ?1 RETURNING created", .text(id)) != nil else {
            return false
        }
        try transaction.rows("DELETE FROM grants WHERE client = ?1", .text(id))
        return true
    }
}
#endif
