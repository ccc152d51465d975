// The alternative names of a certificate's subject: RFC 5280 section 4.2.1.6, as text and in DER.

internal import Glibc
internal import OMSecrets

/// One alternative name.
///
///     let names = [try SubjectName("DNS:db.example.org"), try SubjectName("IP:192.0.2.7")]
public enum SubjectName: Hashable, Sendable {
    /// Letters, digits and hyphens in labels; the first label may be `*`.
    case dns(String)
    /// 4 or 16 bytes.
    case ip([UInt8])
    case uri(String)
    case email(String)

    /// `DNS:`, `IP:`, `URI:` or `email:`, and the name. Each name is checked: no text can end a name and begin another.
    ///
    /// - Throws: ``CryptoError/invalidName``.
    public init(_ text: String) throws(CryptoError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .invalidName }
        let name = String(text[text.utf8.index(after: colon)...])
        guard let found = Self(kind: text[..<colon].lowercased(), name) else { throw .invalidName }
        self = found
    }

    private init?(kind: String, _ name: String) {
        switch kind {
        case "dns" where Self.isDomain(name, wildcard: true): self = .dns(name)
        case "ip":
            guard let address = Self.address(name) else { return nil }
            self = .ip(address)
        case "uri" where Self.isURI(name): self = .uri(name)
        case "email" where Self.isEmail(name): self = .email(name)
        default: return nil
        }
    }

    /// The text that ``init(_:)`` reads.
    public var text: String {
        switch self {
        case .dns(let name): "DNS:\(name)"
        case .ip(let address): "IP:\(Self.text(of: address))"
        case .uri(let name): "URI:\(name)"
        case .email(let name): "email:\(name)"
        }
    }

    // MARK: Text

    private static func isDomain(_ text: String, wildcard: Bool = false) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { index, label in
            if wildcard, index == 0, labels.count > 1, label.elementsEqual("*".utf8) { return true }
            let hyphen = UInt8(ascii: "-")
            return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                && label.allSatisfy { $0 == hyphen || isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
        }
    }

    /// A scheme, a colon, and printable ASCII without what RFC 3986 never allows.
    private static func isURI(_ text: String) -> Bool {
        guard (1...2048).contains(text.utf8.count), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let (scheme, rest) = (text.utf8[..<colon], text.utf8[colon...].dropFirst())
        guard let first = scheme.first, isLetter(first), !rest.isEmpty else { return false }
        return scheme.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
            && rest.allSatisfy { (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }
    }

    private static func isEmail(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].count) else { return false }
        let isLocal = parts[0].allSatisfy { isLetter($0) || isDigit($0) || "!#$%&'*+-/=?^_`{|}~.".utf8.contains($0) }
        return isLocal && isDomain(String(decoding: parts[1], as: UTF8.self))
    }

    private static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if !text.utf8.contains(0), inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    private static func text(of address: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(address.count == 4 ? AF_INET : AF_INET6, address, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    // MARK: DER

    private static let (emailTag, dnsTag) = (DERTag.primitive(1), DERTag.primitive(2))
    private static let (uriTag, ipTag) = (DERTag.primitive(6), DERTag.primitive(7))

    /// GeneralNames in DER.
    static func der(_ names: [SubjectName]) -> [UInt8] {
        var writer = DERWriter()
        writer.sequence { list in
            for name in names {
                switch name {
                case .dns(let text): list.primitive(dnsTag, Array(text.utf8).span)
                case .ip(let address): list.primitive(ipTag, address.span)
                case .uri(let text): list.primitive(uriTag, Array(text.utf8).span)
                case .email(let text): list.primitive(emailTag, Array(text.utf8).span)
                }
            }
        }
        return writer.finish().withBytes { [UInt8](copying: $0) }
    }

    /// The names in GeneralNames. A name of another kind is left out, and so is one that ``init(_:)`` would refuse.
    static func all(in bytes: Span<UInt8>) throws(CryptoError) -> [SubjectName] {
        var top = DERCursor(0..<bytes.count, blame: .malformedKey(.pem))
        var list = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        var found: [SubjectName] = []
        while !list.isAtEnd {
            let tag = list.tag(bytes)
            let content = try list.any(bytes).content
            guard tag != ipTag else {
                if content.count == 4 || content.count == 16 { found.append(.ip(bytes.bytes(content))) }
                continue
            }
            let kinds = [emailTag: "email", dnsTag: "dns", uriTag: "uri"]
            guard let kind = tag.flatMap({ kinds[$0] }) else { continue }
            let text = bytes.bytes(content)
            guard text.allSatisfy({ $0 < 0x80 }) else { continue }
            if let name = SubjectName(kind: kind, String(decoding: text, as: UTF8.self)) { found.append(name) }
        }
        return found
    }
}
