// The writer of OpenSSH's private key files (PROTOCOL.key).

public import OMSecrets

extension PrivateKey {
    /// `OPENSSH PRIVATE KEY`, encrypted as `ssh-keygen` does: bcrypt_pbkdf with 24 rounds, aes256-ctr.
    ///
    /// - Parameter comment: What `ssh-add -l` shows.
    /// - Throws: ``CryptoError/wrongKeyType`` for X25519, which OpenSSH does not have.
    public func encryptedOpenSSH(
        password: borrowing SecretBytes, comment: String = ""
    ) throws(CryptoError) -> SecretBytes {
        let encryption = OpenSSHEncryption.new()
        let section = try openSSHSection(comment: comment, block: encryption.cipher.blockCount)
        let sealed = try encryption.seal(section, password: password)
        var options = SSHWriter()
        options.string(encryption.salt.span)
        options.number(encryption.rounds)
        let parameters = options.finish().withBytes { [UInt8](copying: $0) }
        return try openSSHFile(
            cipher: encryption.cipher.rawValue, derivation: OpenSSHEncryption.derivation, parameters: parameters,
            section: SecretBytes(copying: sealed))
    }

    /// `OPENSSH PRIVATE KEY`. It is not encrypted, so every reader of the file has the key.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` for X25519.
    public func unencryptedOpenSSH(comment: String = "") throws(CryptoError) -> SecretBytes {
        try openSSHFile(
            cipher: "none", derivation: "none", parameters: [], section: openSSHSection(comment: comment, block: 8))
    }

    private func openSSHFile(
        cipher: String, derivation: String, parameters: [UInt8], section: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let blob = try publicKey().openSSHBlob().blob
        let magic = OpenSSHKey.magic
        var file = SSHWriter()
        file.bytes(magic.span)
        file.text(cipher)
        file.text(derivation)
        file.string(parameters.span)
        file.number(1)
        file.string(blob.span)
        section.withBytes { file.string($0) }
        return PEMBlock.write(file.finish(), label: "OPENSSH PRIVATE KEY", width: 70)
    }

    /// The key and its comment between two equal numbers, by which a reader notices a wrong password, and the padding.
    private func openSSHSection(comment: String, block: Int) throws(CryptoError) -> SecretBytes {
        let half = try publicKey()
        let name = try half.openSSHBlob().name
        var section = SSHWriter()
        let check = Random.bytes(4)
        section.bytes(check.span)
        section.bytes(check.span)
        section.text(name)
        switch kind {
        case .rsa:
            let numbers = try rsaNumbers()
            numbers.values.withBytes { values in
                // n, e, d, q⁻¹ mod p, p, q.
                for index in [0, 1, 2, 7, 3, 4] { section.mpint(values.extracting(numbers.ranges[index])) }
            }
        case .ed25519:
            let open = try half.rawBytes
            let seed = try rawBytes()
            section.string(open.span)
            var both = SecretBuffer()
            both.append(seed)
            both.append(open.span)
            both.withBytes { section.string($0) }
        case .ec(let curve):
            section.text(curve.sshName)
            let point = try half.point()
            section.string(point.span)
            let scalar = try rawBytes()
            scalar.withBytes { section.mpint($0.extracting($0.significant)) }
        case .x25519: throw .wrongKeyType
        }
        section.text(comment)
        var pad: UInt8 = 0
        while section.count % block != 0 {
            pad += 1
            section.bytes([pad].span)
        }
        return section.finish()
    }
}
