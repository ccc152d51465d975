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
            Self.ofComments(document.comments) ?? Self.ofFields(document) ?? Self.ofFileName(fileName)
        guard let known else { throw Unreadable("neither the comments, the fields nor the file's name tell the kind") }
        self = known
    }

    /// Digest lengths in bytes, as `[L = 20]` gives them.
    static func algorithm(digestCount: Int) -> DigestAlgorithm? {
        [.insecureSHA1, .sha224, .sha256, .sha384, .sha512].first { $0.count == digestCount }
    }

    private static func ofComments(_ comments: [String]) -> CAVPKind? {
        if let known = comments.lazy.compactMap(ofComment).first { return known }
        // NIST's tool signs its files, so a title between quotes is one; elsewhere it may be anything.
        guard comments.contains(where: { $0.hasPrefix("CAVS") }) else { return nil }
        return comments.lazy.compactMap(title).first.map { .unsupported(String($0.prefix(60))) }
    }

    private static func ofComment(_ comment: String) -> CAVPKind? {
        if let title = title(comment), title.hasPrefix("SHA") { return ofDigest(title) }
        let words = comment.split(separator: " ")
        if words.first == "AESVS", words.suffix(4).prefix(3) == ["test", "data", "for"], words.count >= 6 {
            return ofAES(test: words[1], mode: words[words.count - 1])
        }
        if words.first == "TDES" || comment.contains("KAT for") { return .unsupported("Triple DES") }
        if comment.hasPrefix("GCM") { return .unsupported("AES in GCM mode") }
        return nil
    }

    /// What stands between the quotes, of either kind, that a comment starts with.
    private static func title(_ comment: String) -> Substring? {
        guard let quote = comment.first, quote == "\"" || quote == "'",
            let end = comment.dropFirst().firstIndex(of: quote)
        else { return nil }
        return comment[..<end].dropFirst()
    }

    /// `SHA-256 ShortMsg`, but not `SHA-512/224 Monte` or `SHA3-256 LongMsg`.
    private static func ofDigest(_ title: Substring) -> CAVPKind {
        let words = title.split(separator: " ")
        guard words.count == 2, let algorithm = try? DigestAlgorithm(named: String(words[0])) else {
            return .unsupported(String(title.prefix(60)))
        }
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
