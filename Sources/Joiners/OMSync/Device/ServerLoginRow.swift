// The login at the server of a remote, in the tables. Format: docs/formats/sync.md, "Over HTTP".

package import OMItems
package import OMParcels
internal import OMRecords
internal import OMSecrets
package import OMVault

/// The row of kind 15.
enum ServerLoginRow {
    static func read<Keys: VaultKeys & ~Copyable>(
        _ remote: UInt8, _ keys: borrowing Keys, _ access: borrowing SyncAccess
    ) throws(VaultError) -> ServerLogin? {
        guard let box = try access.row(.serverLogin, [remote]) else { return nil }
        let context = context(access.vault, remote)
        return try keys.withClassKey(of: .always) { classKey throws(VaultError) in
            do {
                let bytes = try AEAD.open(SealedBox(stored: box), using: classKey.derive(context), context: context)
                return try ServerLogin.decode(bytes)
            } catch { throw .corrupt(.sync) }
        }
    }

    static func keep<Keys: VaultKeys & ~Copyable>(
        _ login: ServerLogin, of remote: UInt8, _ keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) {
        let context = context(access.vault, remote)
        let box = try keys.withClassKey(of: .always) { classKey throws(VaultError) in
            AEAD.seal(login.encoded, using: classKey.derive(context), context: context).bytes
        }
        try access.set(.serverLogin, [remote], box)
    }

    /// Seals the logins under other class keys.
    static func reseal(
        _ vault: borrowing Vault, _ keys: borrowing RekeyedKeys, _ access: inout SyncAccess
    ) throws(VaultError) {
        for row in try access.rows(.serverLogin) {
            guard row.key.count == 1, let login = try read(row.key[0], vault, access) else { throw .corrupt(.sync) }
            try keep(login, of: row.key[0], keys, &access)
        }
    }

    /// Attack: the tokens of one server are put in the place of another one's, which then gets them.
    private static func context(_ vault: [UInt8], _ remote: UInt8) -> Context {
        Context(.syncServerToken, .bytes(vault), .number(UInt64(remote)))
    }
}

/// The login of a remote that a vault keeps, while the remote stays where it is.
package final class VaultServerLogin: ServerLoginKeeper {
    private let vault: Vault
    private let remote: RemoteRow

    package init(of remote: RemoteRow, in vault: borrowing Vault) {
        self.vault = vault.shared()
        self.remote = remote
    }

    /// Attack: while this process speaks to one server, the user moves the remote to another one. The first server would get the
    /// tokens of the second, or its own tokens would be kept for the second.
    private func isThere(_ access: borrowing SyncAccess) throws(VaultError) -> Bool {
        try RemoteRow.all(access).contains { row in
            row.id == remote.id && row.incarnation == remote.incarnation && row.path == remote.path
        }
    }

    package func login() throws(VaultError) -> ServerLogin? {
        try vault.readSync { access throws(VaultError) in
            try access.checkRows()
            return try isThere(access) ? ServerLoginRow.read(remote.id, vault, access) : nil
        }
    }

    package func keep(_ login: ServerLogin) throws(VaultError) {
        try vault.editSync { access throws(VaultError) in
            guard try isThere(access) else { return }
            try ServerLoginRow.keep(login, of: remote.id, vault, &access)
        }
    }

    package func refreshing<R>(_ body: () -> R) throws(VaultError) -> R { try vault.refreshingLogin(body) }
}

extension Vault {
    /// The files of a remote that this device need not read again.
    package func knownFiles(of remote: RemoteRow) throws(VaultError) -> KnownFiles {
        try readSync { access throws(VaultError) in
            var known = KnownFiles()
            for row in try access.rows(.head) where row.key.first == remote.id { known.add(row.body) }
            let roll = try DeviceRoll(access).roll
            for entry in roll.entries { known.add(entry.encoded) }
            // This device has compared it before it wrote its first head there.
            if !remote.ownHeads.isEmpty { known.founding = roll.entries.first?.encoded }
            return known
        }
    }
}
