// The agent's keys of SSH: the list, and one signature.

internal import OMAgentProtocol
internal import OMItems
internal import OMOnlineModel
internal import OMSecrets
internal import OMVault

extension VaultHandle {
    /// The keys that are offered now.
    func sshKeys() -> AgentReply {
        let items: [Item]
        switch readWithoutUse({ (vault) throws(VaultError) in try vault.sshKeyItems() }) {
        case .success(let found): items = found
        case .failure(let refusal): return refusal.reply
        }
        var offered: [OfferedSSHKey] = []
        for item in items {
            guard let key = publicKey(of: item) else { continue }
            offered.append(OfferedSSHKey(item.name, asks: item.asksForSSH, publicKey: key))
        }
        return .sshKeys(offered)
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
        let found = readWithoutUse { (vault) throws(VaultError) in
            try vault.sshKeyText(of: try vault.sshKeyItem(named: signing.item))
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
