// PEM, RFC 7468. Other text may surround a block; inside, it must be canonical base64.

internal import OMSecrets

/// One block of text between `-----BEGIN X-----` and `-----END X-----`.
struct PEMBlock: ~Copyable {
    let label: String
    /// OpenSSL's old encryption, from RFC 1421's headers.
    let encryption: LegacyEncryption?
    let body: SecretBytes

    struct LegacyEncryption: Hashable {
        let cipher: String
        let iv: [UInt8]
    }

    /// The labels of blocks that may accompany a key and say nothing about it.
    private static let companions = certificates.union(["EC PARAMETERS"])
    private static let certificates: Set = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
    private static let blame = CryptoError.malformedKey(.pem)
    /// No bundle of certificates has more.
    ///
    /// Attack: a file has very many blocks, each of which costs more than its own length.
    static let mostBlocks = 1024

    /// Whether the bytes hold the start of a block.
    static func isPEM(_ bytes: Span<UInt8>) -> Bool {
        Lines(bytes).contains(bytes) { bytes.has("-----BEGIN ", at: $0) }
    }

    /// The only block of a key. Certificates and curve parameters beside it are ignored.
    ///
    /// - Throws: ``CryptoError/severalKeys``; ``CryptoError/certificateInsteadOfKey`` if there are only certificates;
    ///   ``CryptoError/malformedKey(_:)`` if there is no block of a key, or any block is malformed.
    init(findingKeyIn bytes: Span<UInt8>) throws(CryptoError) {
        var lines = Lines(bytes)
        var found: PEMBlock?
        var isFound = false
        var (blocks, hasCertificate) = (0, false)
        while let line = lines.next(bytes) {
            guard bytes.has("-----BEGIN ", at: line) else {
                // A boundary that begins no block belongs to a block whose start was cut off.
                guard !bytes.has("-----", at: line) else { throw Self.blame }
                continue
            }
            let block = try Self.block(after: line, &lines, bytes)
            blocks += 1
            guard blocks <= Self.mostBlocks else { throw Self.blame }
            if Self.certificates.contains(block.label) { hasCertificate = true }
            if Self.companions.contains(block.label) { continue }
            // With two keys, the reader cannot know which one is meant.
            guard !isFound else { throw .severalKeys }
            found = consume block
            isFound = true
        }
        guard let found else { throw hasCertificate ? .certificateInsteadOfKey : Self.blame }
        self = found
    }

    /// The bodies of all blocks with this label. They must not be secret.
    static func bodies(labelled label: String, in bytes: Span<UInt8>) throws(CryptoError) -> [[UInt8]] {
        var lines = Lines(bytes)
        var found: [[UInt8]] = []
        var blocks = 0
        while let line = lines.next(bytes) {
            guard bytes.has("-----BEGIN ", at: line) else {
                guard !bytes.has("-----", at: line) else { throw blame }
                continue
            }
            let block = try block(after: line, &lines, bytes)
            blocks += 1
            guard blocks <= mostBlocks else { throw blame }
            if block.label == label { found.append(block.body.withBytes { [UInt8](copying: $0) }) }
        }
        return found
    }

    private init(_ label: String, _ encryption: LegacyEncryption?, _ body: consuming SecretBytes) {
        self.label = label
        self.encryption = encryption
        self.body = body
    }

    private static func block(
        after begin: Range<Int>, _ lines: inout Lines, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> PEMBlock {
        let label = try label(of: begin, "-----BEGIN ", bytes)
        let end = "-----END \(label)-----"
        var text = SecretBuffer(capacity: 4096)
        var headers: [String] = []
        var (width, isLast) = (0, false)
        var isFirst = true
        while let line = lines.next(bytes) {
            if bytes.has("-----", at: line) {
                guard line.count == end.utf8.count, bytes.has(end, at: line) else { throw blame }
                guard text.count > 0 else { throw blame }
                return try PEMBlock(label, encryption(headers), decode(text.finish()))
            }
            if isFirst, line.contains(where: { bytes[$0] == UInt8(ascii: ":") }) {
                headers = try Self.headers(line, &lines, bytes)
                isFirst = false
                continue
            }
            // Every line but the last is as long as the first. Blank lines and blanks are not allowed.
            guard !line.isEmpty, line.count <= 76, !isLast, isFirst || width == 0 || line.count <= width else {
                throw blame
            }
            if width == 0 { width = line.count }
            isLast = line.count < width
            isFirst = false
            text.append(bytes.extracting(line))
        }
        throw blame
    }

    private static func decode(_ text: consuming SecretBytes) throws(CryptoError) -> SecretBytes {
        do throws(SecretsError) { return try Base64.decode(text) } catch { throw blame }
    }

    private static func label(
        of line: Range<Int>, _ prefix: String, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> String {
        let rest = line.dropFirst(prefix.utf8.count)
        guard rest.count > 5, rest.count <= 64, bytes.has("-----", at: rest.suffix(5)) else { throw blame }
        let label = rest.dropLast(5).map { bytes[$0] }
        let isName = label.allSatisfy { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x20
        }
        guard isName else { throw blame }
        return String(decoding: label, as: UTF8.self)
    }

    /// The header lines, up to the empty line.
    private static func headers(
        _ first: Range<Int>, _ lines: inout Lines, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> [String] {
        var headers = [bytes.text(first)]
        while let line = lines.next(bytes) {
            if line.isEmpty { return headers }
            guard headers.count < 8, !bytes.has("-----", at: line) else { throw blame }
            headers.append(bytes.text(line))
        }
        throw blame
    }

    private static func encryption(_ headers: [String]) throws(CryptoError) -> LegacyEncryption? {
        guard !headers.isEmpty else { return nil }
        guard headers.count == 2, headers[0] == "Proc-Type: 4,ENCRYPTED", headers[1].hasPrefix("DEK-Info: ") else {
            throw blame
        }
        let parts = headers[1].dropFirst("DEK-Info: ".count).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let iv = try? Hex.decode(String(parts[1])) else { throw blame }
        return LegacyEncryption(cipher: String(parts[0]), iv: iv)
    }

    /// The text of a block.
    ///
    /// - Parameter width: The characters in each line but the last.
    static func write(_ der: borrowing SecretBytes, label: String, width: Int = 64) -> SecretBytes {
        var text = SecretBuffer(capacity: der.count * 3 / 2 + 128)
        text.append(Array("-----BEGIN \(label)-----\n".utf8).span)
        let body = Base64.encode(der)
        body.withBytes { body in
            for start in stride(from: 0, to: body.count, by: width) {
                text.append(body.extracting(start..<min(start + width, body.count)))
                text.append(UInt8(ascii: "\n"))
            }
        }
        text.append(Array("-----END \(label)-----\n".utf8).span)
        return text.finish()
    }
}

extension Span<UInt8> {
    /// Whether `range` starts with `text`.
    func has(_ text: String, at range: Range<Int>) -> Bool {
        guard range.count >= text.utf8.count else { return false }
        var index = range.lowerBound
        for byte in text.utf8 {
            guard self[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// The bytes as text. Not for secrets.
    func text(_ range: Range<Int>) -> String { String(decoding: range.map { self[$0] }, as: UTF8.self) }

    func bytes(_ range: Range<Int>) -> [UInt8] { [UInt8](copying: extracting(range)) }
}
