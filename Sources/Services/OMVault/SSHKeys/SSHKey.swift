// A key of SSH in the process that signs with it: an item of the type ssh-key.

internal import OMCrypto
package import OMItems
package import OMSecrets

/// A key that only signs: no call returns it.
package final class SSHKey: Sendable {
    private let key: PrivateKey
    /// The public half in SSH's form.
    package let publicKey: [UInt8]

    fileprivate init?(_ key: consuming PrivateKey) {
        guard SSHSignature.algorithm(for: key.kind, flags: SSHSignature.sha256) != nil,
            let blob = try? key.publicKey().openSSHBlob().blob
        else { return nil }
        self.key = key
        publicKey = blob
    }

    /// The signature in SSH's form.
    ///
    /// - Parameter flags: ``SSHSignature/sha256`` or ``SSHSignature/sha512``, for RSA.
    /// - Returns: nil for bytes that no SSH program has signed, and for another key's.
    package func sign(_ data: [UInt8], flags: UInt32) -> [UInt8]? {
        guard let algorithm = SSHSignature.algorithm(for: key.kind, flags: flags),
            SSHSignedData(data, key: publicKey, algorithm: algorithm) != nil
        else { return nil }
        return try? SSHSignature.make(data, with: key, algorithm)
    }
}

/// The text of a key, as its item has it.
package final class SSHKeyText: Sendable {
    private let text: SecretBytes
    private let password: SecretBytes?

    init(_ text: consuming SecretBytes, password: consuming SecretBytes?) {
        self.text = text
        self.password = password
    }

    /// Reads the key. If it is encrypted, that can take a second.
    ///
    /// - Returns: nil if it is no key that SSH programs can use.
    package func open() -> SSHKey? {
        guard let file = try? KeyFile(text), let key = try? privateKey(in: file) else { return nil }
        return SSHKey(key)
    }

    private func privateKey(in file: borrowing KeyFile) throws(CryptoError) -> PrivateKey {
        guard file.isEncrypted else { return try file.privateKey() }
        switch password {
        case .none: throw .keyPasswordRequired
        case .some(let password): return try file.privateKey(password: password)
        }
    }
}
