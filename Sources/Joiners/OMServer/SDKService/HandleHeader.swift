#if Server
// The header that has the handle of a registration.

internal import OMSecrets

/// `X-Idaas-Rest-Authorization: UIDPASSWORD cred="…"`: Base64 of the application, a colon and the handle.
struct HandleHeader {
    let application: String
    /// The handle's digest, as the store has it.
    let digest: [UInt8]

    /// As in ``BasicPair``, only the Base64 is in ordinary memory.
    ///
    /// - Returns: nil for any other header.
    init?(_ header: String) {
        let start = "UIDPASSWORD cred=\"", end = "\""
        guard header.hasPrefix(start), header.hasSuffix(end), header.utf8.count > start.utf8.count else { return nil }
        let encoded = header.dropFirst(start.count).dropLast(end.count)
        guard let pair = try? Base64.decode(SecretBytes(copying: encoded.utf8Span.span)) else { return nil }
        var application: String?
        let handle = pair.withBytes { bytes -> SecretBytes? in
            guard let colon = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ":") }) else { return nil }
            application = String(validating: [UInt8](copying: bytes.extracting(..<colon)), as: UTF8.self)
            return SecretBytes(copying: bytes.extracting((colon + 1)...))
        }
        guard let application, let handle else { return nil }
        self.application = application
        digest = TokenText.digest(of: handle)
    }
}
#endif
