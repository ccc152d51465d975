// The Android SDK's names in braces: `{AES/CBC/PKCS5Padding}`, and `{AES}` alone, which means ECB with padding
// in Java.

internal import OMSecrets

/// The text between the braces of the Android SDK's strings: cipher, mode and padding.
public struct Transformation: Hashable, Sendable {
    public let algorithm: BlockAlgorithm
    public let padding: BlockPadding

    /// - Parameter padding: CTR ignores it; Java says NoPadding there.
    public init(_ algorithm: BlockAlgorithm, _ padding: BlockPadding) {
        self.algorithm = algorithm
        self.padding = algorithm.usesPadding ? padding : .none
    }

    /// `AES/CBC/PKCS5Padding`; `DESede` is Java's name for Triple DES, and both names are read.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(_ text: String) throws(CryptoError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard parts.count == 1 || parts.count == 3, let cipher = Self.ciphers[parts[0]] else { throw .unknownAlgorithm }
        guard parts.count == 3 else {
            self.init(BlockAlgorithm(cipher, .insecureECB), .pkcs7)
            return
        }
        guard let mode = BlockAlgorithm.Mode.allCases.first(where: { $0.name == parts[1] }),
            let padding = Self.paddings[parts[2]], mode != .ctr || padding == .none
        else { throw .unknownAlgorithm }
        self.init(BlockAlgorithm(cipher, mode), padding)
    }

    /// `AES/CBC/PKCS5Padding`.
    public var text: String {
        let cipher = algorithm.cipher == .insecureTripleDES ? "DESede" : algorithm.cipher.sdkName
        return "\(cipher)/\(algorithm.mode.name.uppercased())/\(padding == .pkcs7 ? "PKCS5Padding" : "NoPadding")"
    }

    /// The prefix and the base64 text of a whole string.
    ///
    /// - Throws: ``CryptoError/notPrefixed``, ``CryptoError/unknownAlgorithm``.
    public static func split(_ text: String) throws(CryptoError) -> (transformation: Transformation, base64: String) {
        guard text.utf8.first == UInt8(ascii: "{"), let brace = text.utf8.firstIndex(of: UInt8(ascii: "}")) else {
            throw .notPrefixed
        }
        let name = text[text.utf8.index(after: text.startIndex)..<brace]
        return (try Transformation(String(name)), String(text[text.utf8.index(after: brace)...]))
    }

    private static let ciphers: [String: BlockAlgorithm.Cipher] = [
        "aes": .aes, "des": .insecureDES, "3des": .insecureTripleDES, "desede": .insecureTripleDES,
    ]
    private static let paddings: [String: BlockPadding] = [
        "pkcs5padding": .pkcs7, "pkcs7padding": .pkcs7, "nopadding": .none,
    ]
}
