// The MAC at the end of a row: of this device, for the place where the row stands.

internal import OMSecrets
internal import OMStorage

/// What every row of the ledger ends with. Its context holds the id of the key column: another user's row, copied here with a
/// known password in it, is not authentic.
enum RowSeal {
    /// The row as it is stored.
    static func sealed(
        _ body: [UInt8], as label: Label, at id: LoginID, under device: borrowing DeviceKey
    ) -> [UInt8] {
        let key = device.key.derive(Context(label), as: Authenticating.self)
        return body + MAC.tag(of: body, using: key, context: Context(label, .bytes(id.bytes)))
    }

    /// The row without its MAC, which is checked before anything in the row is read.
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
