extension PublicKey {
    /// The key's thumbprint by RFC 7638: SHA-256 over its required members, in base64url. It names the key in `kid` and `jkt`.
    public func jwkThumbprint() throws(CryptoError) -> String {
        let members = try jwkMembers().sorted { $0.name < $1.name }
        return Base64URL.encode(try Digest.of(Array(Self.json(members).utf8), .sha256))
    }
}
