// Format: docs/formats/sync.md, "Tables".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// The member key of a number that this device had. The entry that replaced the number may lose against another one, and then is
/// signed again.
enum FormerKey {
    static func keep<Keys: VaultKeys & ~Copyable>(
        _ signer: RollSigner, _ keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) {
        let context = context(access.vault, signer.number)
        let box = try keys.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
            signer.withKey { key in
                let content = key.withExposedBytes { SecretBytes(copying: $0) }
                return AEAD.seal(content, using: classKey.derive(context), context: context).bytes
            }
        }
        try access.set(.formerKey, row(of: signer.number), box)
    }

    /// - Returns: Nil for a number that this device never had.
    static func signer<Keys: VaultKeys & ~Copyable>(
        _ number: UInt32, _ keys: borrowing Keys, _ access: borrowing SyncAccess
    ) throws(VaultError) -> RollSigner? {
        guard let box = try access.row(.formerKey, row(of: number)) else { return nil }
        let context = context(access.vault, number)
        return try keys.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
            do {
                return RollSigner(
                    number,
                    try Key(
                        readFrom: AEAD.open(SealedBox(stored: box), using: classKey.derive(context), context: context)))
            } catch { throw .corrupt(.sync) }
        }
    }

    /// Seals the kept keys under other class keys.
    static func reseal(
        _ vault: borrowing Vault, _ keys: borrowing RekeyedKeys, _ access: inout SyncAccess
    ) throws(VaultError) {
        for row in try access.rows(.formerKey) {
            let number = row.key.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard let signer = try signer(number, vault, access) else { throw .corrupt(.sync) }
            try keep(signer, keys, &access)
        }
    }

    private static func row(of number: UInt32) -> [UInt8] {
        var key: [UInt8] = []
        key.append(number: number)
        return key
    }

    private static func context(_ vault: [UInt8], _ number: UInt32) -> Context {
        Context(.syncFormerKey, .bytes(vault), .number(UInt64(number)))
    }
}
