// The agent's signer: it signs with the vaults that it keeps open.

internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem
internal import OMVault

struct OpenVaultSigner: QuestionSigner {
    private let vaults: VaultTable
    private let paths: VaultPaths

    init(_ vaults: VaultTable, _ paths: VaultPaths) { (self.vaults, self.paths) = (vaults, paths) }

    var vault: VaultPaths? { paths }

    func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
        let signature: Signature? = try handle().withIdentity(identity) { key -> Signature?? in
            if key.lacksAlgorithm(for: use) { return .some(nil) }
            switch key.sign(use, now: ClockReading.now().wall) {
            case .none: return nil
            case .some(let bytes): return Signature(bytes)
            }
        }
        guard let signature else { throw .failed(.noKeyAlgorithm) }
        return signature.bytes.duplicate()
    }

    /// Why nothing can be signed with the identity now. Nil if something can.
    func problem(of identity: String) -> OnlineFailure? {
        do throws(OnlineRefusal) {
            try handle().withIdentity(identity) { _ in () }
            return nil
        } catch {
            if case .failed(let failure, _, _) = error { return failure }
            return .unusableClientKey
        }
    }

    private func handle() throws(OnlineRefusal) -> VaultHandle {
        guard let handle = vaults.handleOrResume(at: paths) else { throw .failed(.lockedClientKey) }
        return handle
    }

    /// Carries a signature out of the vault's lock.
    private final class Signature: Sendable {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }
}
