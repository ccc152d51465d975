// Who signs for the helper of a question.

package import OMAgentProtocol
package import OMOnlineModel
package import OMSecrets
package import OMVault

/// Signs with an identity of the user's vault, outside of the process that talks to the server.
package protocol QuestionSigner: Sendable {
    /// The vault of the identity. Nil for a vault that the agent cannot open: then a session's refresh cannot be signed.
    var vault: VaultPaths? { get }

    /// - Parameter identity: Its name, without the item's prefix.
    /// - Throws: One of ``OnlineFailure/ofSigning``.
    func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes
}

extension OnlineFailure {
    /// The causes why there is no signature.
    static let ofSigning: Set<OnlineFailure> = [.unusableClientKey, .lockedClientKey, .noKeyAlgorithm]
}

extension OnlineRefusal {
    /// Why there is no signature. Another refusal of a signer is no word of the protocol.
    var signingProblem: OnlineFailure {
        if case .failed(let failure, _, _) = self, isOfSigning { failure } else { .unusableClientKey }
    }

    var isOfSigning: Bool {
        if case .failed(let failure, _, _) = self { OnlineFailure.ofSigning.contains(failure) } else { false }
    }
}
