internal import ArgumentParser
internal import OMSecrets

/// The value of an option such as `--encoding` of a key or a tag.
enum OutputEncoding: String, CaseIterable, ExpressibleByArgument {
    case raw, hex, base64, base32

    func encode(_ bytes: consuming SecretBytes) -> SecretBytes {
        switch self {
        case .raw: bytes
        case .hex: Hex.encode(bytes)
        case .base64: Base64.encode(bytes)
        case .base32: Base32.encode(bytes)
        }
    }
}
