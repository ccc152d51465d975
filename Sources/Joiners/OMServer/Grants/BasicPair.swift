#if Server
// The name and the secret of an `Authorization: Basic` header.

internal import OMSecrets

struct BasicPair {
    let name: String
    /// The secret's digest, as the store has it. Nil if the secret is empty.
    let secretDigest: [UInt8]?

    /// The HTTP library gives the header as a text, so the secret's Base64 is in ordinary memory for a time. The decoded secret
    /// is only in locked memory.
    ///
    /// - Returns: nil for any other header.
    init?(_ header: String) {
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let pair = try? Base64.decode(SecretBytes(copying: parts[1].utf8Span.span))
        else { return nil }
        var name: String?
        let secret = pair.withBytes { bytes -> SecretBytes? in
            guard let colon = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ":") }) else { return nil }
            // RFC 6749: both are form-encoded within.
            name = FormText.decode(bytes.extracting(..<colon))
            return FormText.decode(secret: bytes.extracting((colon + 1)...))
        }
        guard let name, let secret else { return nil }
        self.name = name
        secretDigest = secret.count == 0 ? nil : TokenText.digest(of: secret)
    }
}
#endif
