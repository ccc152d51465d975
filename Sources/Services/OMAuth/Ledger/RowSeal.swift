// The MAC at the end of a row. It binds the row to this device and to the row's id.

internal import OMSecrets
internal import OMStorage

/// The end of every row of the ledger. Attack: an attacker copies another user's row, with a known password, to this
/// id. The MAC's context holds the id, so the copy is not authentic.
enum RowSeal {
    /// The row as it is stored.
    static func sealed(
        _ body: [UInt8], as label: Label, at id: LoginID, under device: borrowing DeviceKey
    ) -> [UInt8] {
        let key = device.key.derive(Context(label), as: Authenticating.self)
        return body + MAC.tag(of: body, using: key, context: Context(label, .bytes(id.bytes)))
    }

    /// Returns the row without its MAC. The MAC is checked before anything in the row is read.
    ///
    /// - Throws: ``AuthError/quarantined`` for any byte that this device did not write there.
    static func open(
        _ bytes: [UInt8], atMost most: Int, as label: Label, at id: LoginID, under device: borrowing DeviceKey
    ) throws(AuthError) -> [UInt8] {
        guard (MAC.count...most).contains(bytes.count) else { throw .quarantined }
        let (body, tag) = (Array(bytes.dropLast(MAC.count)), Array(bytes.suffix(MAC.count)))
        let key = device.key.derive(Context(label), as: Authenticating.self)
        do throws(SecretsError) {
            try MAC.check(tag, of: body, using: key, context: Context(label, .bytes(id.bytes)))
        } catch { throw .quarantined }
        return body
    }
}
