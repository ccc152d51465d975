// What a CAVP file holds: its comments say it; without them its fields; the file's name comes last, for files are
// renamed and names are wrong more often than headers.

internal import OMCrypto

enum CAVPKind: Hashable {
    case digest(DigestAlgorithm)
    case digestChain(DigestAlgorithm)
    case cbc
    case cbcChain
    case unsupported(String)

    init(_ document: CAVPDocument, fileName: String) throws(Unreadable) {
        let known =
            document.comments.lazy.compactMap(Self.ofComment).first ?? Self.ofFields(document)
            ?? Self.ofFileName(fileName)
        guard let known else { throw Unreadable("neither the comments, the fields nor the file's name tell the kind") }
        self = known
    }

    /// Digest lengths in bytes, as `[L = 20]` gives them.
    static func algorithm(digestCount: Int) -> DigestAlgorithm? {
        [.insecureSHA1, .sha224, .sha256, .sha384, .sha512].first { $0.count == digestCount }
    }

    private static func ofComment(_ comment: String) -> CAVPKind? {
        if comment.hasPrefix("\""), let end = comment.dropFirst().firstIndex(of: "\"") {
            return ofTitle(comment[comment.index(after: comment.startIndex)..<end])
        }
        let words = comment.split(separator: " ")
        if words.first == "AESVS", words.suffix(4).prefix(3) == ["test", "data", "for"], words.count >= 6 {
            return ofAES(test: words[1], mode: words[words.count - 1])
        }
        if words.first == "TDES" || comment.contains("KAT for") { return .unsupported("Triple DES") }
        if comment.hasPrefix("'"), let end = comment.dropFirst().firstIndex(of: "'") {
            return .unsupported(String(comment[comment.index(after: comment.startIndex)..<end].prefix(60)))
        }
        if comment.hasPrefix("GCM") { return .unsupported("AES in GCM mode") }
        return nil
    }

    /// `SHA-256 ShortMsg`, `SHA-512/224 Monte`, `SigGen PKCS#1 Ver 1.5`.
    private static func ofTitle(_ title: Substring) -> CAVPKind {
        let words = title.split(separator: " ")
        guard words.count == 2, words[0].hasPrefix("SHA"), let algorithm = try? DigestAlgorithm(named: String(words[0]))
        else { return .unsupported(String(title.prefix(60))) }
        switch words[1] {
        case "ShortMsg", "LongMsg": return .digest(algorithm)
        case "Monte": return .digestChain(algorithm)
        default: return .unsupported(String(title.prefix(60)))
        }
    }

    private static func ofAES(test: Substring, mode: Substring) -> CAVPKind {
        guard mode == "CBC" else { return .unsupported("AES in \(mode.prefix(20)) mode") }
        switch test {
        case "GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT": return .cbc
        case "MCT": return .cbcChain
        default: return .unsupported("AES in CBC mode, \(test.prefix(20))")
        }
    }

    /// Only the hashes' records are like no others: `[L = 20]`, then Len, Msg, MD or Seed, COUNT, MD.
    private static func ofFields(_ document: CAVPDocument) -> CAVPKind? {
        guard case .section("L", let length?)? = document.lines.first?.content, let count = Int(length),
            let algorithm = algorithm(digestCount: count)
        else { return nil }
        let names = document.lines.dropFirst().prefix(3).map { line in
            if case .field(let name, _) = line.content { name } else { "" }
        }
        switch names {
        case ["Len", "Msg", "MD"]: return .digest(algorithm)
        case ["Seed", "COUNT", "MD"]: return .digestChain(algorithm)
        default: return nil
        }
    }

    private static func ofFileName(_ name: String) -> CAVPKind? {
        guard name.hasPrefix("CBC") else { return nil }
        let test = name.dropFirst(3).prefix { !$0.isNumber }
        let kind = ofAES(test: test, mode: "CBC")
        return kind == .cbc || kind == .cbcChain ? kind : nil
    }
}
