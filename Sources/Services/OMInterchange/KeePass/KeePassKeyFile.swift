// Key files of KeePass: XML of two versions, 32 bytes, 64 hexadecimal digits, or any file at all.

internal import OMCrypto
internal import OMSecrets

enum KeePassKeyFile {
    /// The key in a key file.
    ///
    /// - Throws: ``InterchangeError/damagedKeyFile``, for XML only: any other file is a key file.
    static func key(_ content: borrowing SecretBytes) throws(InterchangeError) -> SecretBytes {
        if let key = try xml(content) { return key }
        if content.count == 32 { return content.duplicate() }
        if content.count == 64, let key = try? Hex.decode(content) { return key }
        do throws(CryptoError) { return try Digest.of(content, .sha256) } catch { throw .damagedKeyFile }
    }

    /// Nil if the file does not begin as a key file in XML.
    private static func xml(_ content: borrowing SecretBytes) throws(InterchangeError) -> SecretBytes? {
        let document = KeyDocument()
        do throws(InterchangeError) {
            try content.withBytes { (content: Span<UInt8>) throws(InterchangeError) in
                guard content.count <= 1 << 16 else { throw .otherFormat }
                try XMLParsing(for: document).parse(content, isLast: true)
            }
        } catch {
            guard document.isKeyFile else { return nil }
            throw .damagedKeyFile
        }
        return try document.key()
    }
}

/// The XML of a key file.
private final class KeyDocument: XMLHandler {
    private(set) var isKeyFile = false
    private var path: [String] = []
    private var version = ""
    private var hash: String?
    private var data = SecretBuffer(capacity: 128)

    func start(_ name: String, _ attributes: XMLAttributes) throws(InterchangeError) {
        path.append(name)
        guard path.first == "KeyFile" else { throw .otherFormat }
        isKeyFile = true
        if path == Self.dataPath { hash = attributes["Hash"] }
    }

    func text(_ piece: Span<UInt8>) {
        switch path {
        case ["KeyFile", "Meta", "Version"]: version += String(decoding: piece.indices.map { piece[$0] }, as: UTF8.self)
        case Self.dataPath:
            for index in piece.indices where !KeePassText.isSpace(piece[index]) { data.append(piece[index]) }
        default: break
        }
    }

    func end() { path.removeLast() }

    private static let dataPath = ["KeyFile", "Key", "Data"]

    /// Version 1 has base64, version 2 has hexadecimal digits and the first bytes of their SHA-256.
    func key() throws(InterchangeError) -> SecretBytes {
        let text = data.withBytes { SecretBytes(copying: $0) }
        do throws(SecretsError) {
            guard version.hasPrefix("2.") else {
                guard version.hasPrefix("1."), text.count > 0 else { throw .notCanonical }
                return try Base64.decode(text)
            }
            let key = try Hex.decode(text)
            guard key.count > 0, let hash, let digest = try? Digest.of(key, .sha256) else { throw .notCanonical }
            let right = digest.withBytes { digest in Hex.encode((0..<4).map { digest[$0] }) }
            guard hash.lowercased() == right else { throw .notCanonical }
            return key
        } catch {
            throw .damagedKeyFile
        }
    }
}
