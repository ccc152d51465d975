// The key to which the tokens of one session are bound (RFC 9449), in the process that keeps the session.

internal import OMCrypto
package import OMOnlineModel
package import OMSecrets
internal import Synchronization

/// An ES256 key that only makes proofs. The process that talks to the server never has it.
package final class TokenKey: Sendable {
    /// The most origins whose nonces are kept.
    private static let mostNonces = 16

    private struct State {
        /// The newest nonce of each origin.
        var nonces: [String: String] = [:]
        var isEnded = false
    }

    /// The most bytes of ``sealable``.
    package static let longest = 512

    private let key: PrivateKey
    private let state = Mutex(State())
    /// Names the key where a code is bound to it (RFC 7638).
    package let thumbprint: String

    /// A new key. Nil if this system makes none.
    package static func make() -> TokenKey? {
        do throws(CryptoError) { return try TokenKey(.generate(.ec(.p256))) } catch { return nil }
    }

    /// Nil for bytes that are no such key.
    ///
    /// - Parameter bytes: Of ``sealable``.
    package static func read(_ bytes: borrowing SecretBytes) -> TokenKey? {
        do throws(CryptoError) { return try TokenKey(KeyFile(bytes).privateKey()) } catch { return nil }
    }

    private init(_ key: consuming PrivateKey) throws(CryptoError) {
        guard case .ec(.p256) = key.kind else { throw .wrongKeyType }
        thumbprint = try key.publicKey().jwkThumbprint()
        self.key = key
    }

    /// The private key, for the agent that keeps the session, and for the session's ticket.
    package var sealable: SecretBytes {
        // Only a failed allocation could throw: the key is of this kind.
        (try? key.unencryptedPKCS8()) ?? SecretBytes(copying: [])
    }

    /// From here on it signs nothing. A helper may still run when its session ends.
    package func end() { state.withLock { $0.isEnded = true } }

    /// The proof for one request. The caller has checked its address.
    ///
    /// - Parameter now: Seconds since 1970.
    package func prove(_ claims: KeyProofClaims, now: Int64) throws(OnlineRefusal) -> SecretBytes {
        let origin = ServerURL(claims.address)?.origin
        if let nonce = claims.nonce { note(nonce, of: claims.address) }
        let (nonce, isEnded) = state.withLock { state in (origin.flatMap { state.nonces[$0] }, state.isEnded) }
        guard !isEnded else { throw .failed(.unusableClientKey) }
        let proof = DPoPProof(method: claims.method, address: claims.address, nonce: nonce, tokenHash: claims.tokenHash)
        do throws(CryptoError) { return try proof.signed(by: key, now: now) } catch { throw .failed(.unusableClientKey) }
    }

    /// Keeps the newest nonce of a server.
    package func note(_ nonce: String, of address: String) {
        guard let origin = ServerURL(address)?.origin, KeyProofClaims.isNonce(nonce) else { return }
        state.withLock { state in
            if state.nonces[origin] == nil, state.nonces.count >= Self.mostNonces { state.nonces = [:] }
            state.nonces[origin] = nonce
        }
    }
}
