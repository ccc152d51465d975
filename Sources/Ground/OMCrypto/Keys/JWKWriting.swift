// The writer of JSON Web Keys: one line, with the members in the order of their RFCs.

public import OMSecrets

extension PublicKey {
    /// The public key as a JWK (RFC 7517), without `kid`, `use` or `alg`.
    public func jwk() throws(CryptoError) -> String { Self.json(try jwkMembers()) }

    static func json(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\"\($0.name)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }

    /// The members that RFC 7518 and RFC 8037 require. No value needs an escape.
    func jwkMembers() throws(CryptoError) -> [(name: String, value: String)] {
        switch kind {
        case .rsa:
            let numbers = try numbers()
            return [
                ("kty", "RSA"), ("n", Base64URL.encode(numbers.modulus)), ("e", Base64URL.encode(numbers.exponent)),
            ]
        case .ec(let curve):
            let point = try point()
            let x = Base64URL.encode(Array(point[1...curve.count]))
            let y = Base64URL.encode(Array(point[(1 + curve.count)...]))
            return [("kty", "EC"), ("crv", curve.name), ("x", x), ("y", y)]
        case .ed25519, .x25519:
            let name = kind == .ed25519 ? "Ed25519" : "X25519"
            return [("kty", "OKP"), ("crv", name), ("x", Base64URL.encode(try rawBytes))]
        }
    }
}

extension PrivateKey {
    /// The private key as a JWK. It is not encrypted, so every reader of the text has the key.
    public func unencryptedJWK() throws(CryptoError) -> SecretBytes {
        var text = SecretBuffer(capacity: 4096)
        // The public members, then the private ones before the closing brace.
        text.append(Array(try publicKey().jwk().utf8.dropLast()).span)
        if case .rsa = kind {
            let numbers = try rsaNumbers()
            numbers.values.withBytes { values in
                for (name, range) in zip(["d", "p", "q", "dp", "dq", "qi"], numbers.ranges.dropFirst(2)) {
                    Self.append(name, SecretBytes(copying: values.extracting(range)), to: &text)
                }
            }
        } else {
            Self.append("d", try rawBytes(), to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text.finish()
    }

    private static func append(_ name: String, _ value: borrowing SecretBytes, to text: inout SecretBuffer) {
        text.append(Array(",\"\(name)\":\"".utf8).span)
        text.append(Base64URL.encode(value))
        text.append(UInt8(ascii: "\""))
    }
}
