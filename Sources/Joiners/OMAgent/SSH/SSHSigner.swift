// The agent's keys of SSH: the list, and one signature.

internal import OMAgentProtocol
internal import OMItems
internal import OMOnlineModel
internal import OMSecrets
internal import OMVault

extension VaultHandle {
    /// The keys that are offered now.
    func sshKeys() -> AgentReply {
        switch offeredSSHKeys() {
        case .success(let keys): .sshKeys(keys)
        case .failure(let refusal): refusal.reply
        }
    }

    /// Each key once. If several open items have it, the tags of all count.
    private func offeredSSHKeys() -> Result<[OfferedSSHKey], VaultReadRefusal> {
        readWithoutUse { (vault) throws(VaultError) in try vault.sshKeyItems() }
            .map { items -> [OfferedSSHKey] in
                var offered: [OfferedSSHKey] = []
                var hidden: Set<[UInt8]> = []
                for item in items {
                    guard let key = publicKey(of: item) else { continue }
                    if item.isHiddenFromSSH { hidden.insert(key) }
                    guard let index = offered.firstIndex(where: { $0.publicKey == key }) else {
                        offered.append(OfferedSSHKey(item.name, asks: item.asksForSSH, publicKey: key))
                        continue
                    }
                    let first = offered[index]
                    offered[index] = OfferedSSHKey(first.item, asks: first.asks || item.asksForSSH, publicKey: key)
                }
                return offered.filter { !hidden.contains($0.publicKey) }
            }
    }

    private func publicKey(of item: Item) -> [UInt8]? {
        if let known = sshKeyCache.publicKey(of: item) { return known }
        // An error of this moment is not kept.
        guard case .success(let text) = readWithoutUse({ (vault) throws(VaultError) in try vault.sshKeyText(of: item) }) else {
            return nil
        }
        let key = text?.open()?.publicKey
        sshKeyCache.note(key, of: item)
        return key
    }

    /// Signs for an SSH program.
    func sign(_ signing: SSHSigning) -> AgentReply {
        let found = offeredSSHKeys().flatMap { keys -> Result<SSHKeyText?, VaultReadRefusal> in
            guard keys.contains(where: { ($0.item, $0.publicKey) == (signing.item, signing.publicKey) }) else {
                return .success(nil)
            }
            return readWithoutUse { (vault) throws(VaultError) in
                try vault.sshKeyText(of: try vault.sshKeyItem(named: signing.item))
            }
        }
        switch found {
        case .failure(.locked): return .notSigned(.lockedClientKey)
        case .failure(.failed): return .notSigned(.unusableClientKey)
        case .success(let text):
            // The vault's lock is free meanwhile: an encrypted key takes a second.
            guard let key = text?.open(), key.publicKey == signing.publicKey,
                let signature = key.sign(signing.data, flags: signing.flags)
            else { return .notSigned(.unusableClientKey) }
            return .signed(SecretBytes(copying: signature))
        }
    }
}
