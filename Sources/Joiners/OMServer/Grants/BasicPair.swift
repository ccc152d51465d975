#if Server
// Name and secret of an `Authorization: Basic` header.

internal import OMSecrets

struct BasicPair {
    let name: String
    let secret: String

    /// - Returns: nil for any other header.
    init?(_ header: String) {
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = try? Base64.decode(String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":"),
            // RFC 6749: both are form-encoded within.
            let name = FormText.decode(text[..<colon]), let secret = FormText.decode(text[text.index(after: colon)...])
        else { return nil }
        (self.name, self.secret) = (name, secret)
    }
}
#endif
