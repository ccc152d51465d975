internal import OMItems
internal import OMSecrets

/// The keys that seal a backup.
struct BackupKeys: ~Copyable {
    let name: Key<Sealing>
    private let seal: Key<Authenticating>
    private let vault: [UInt8]

    init(_ root: borrowing Key<Deriving>, vault: [UInt8]) {
        name = root.derive(Context(.backupName))
        seal = root.derive(Context(.backupSeal))
        self.vault = vault
    }

    /// - Parameter digest: The digest of everything before the end.
    func seal(_ digest: [UInt8]) -> [UInt8] {
        MAC.tag(of: digest, using: seal, context: Context(.backupSeal, .bytes(vault)))
    }

    /// - Throws: ``VaultError/corrupt(_:)`` if no holder of the root key wrote this backup as it is.
    func check(_ found: [UInt8], of digest: [UInt8]) throws(VaultError) {
        try authentic(.backup) { () throws(SecretsError) in
            try MAC.check(found, of: digest, using: seal, context: Context(.backupSeal, .bytes(vault)))
        }
    }
}
