// The PHC string format: `$id[$v=19][$m=65536,t=3,p=1][$salt[$hash]]`, base64 without padding.
// Source: github.com/P-H-C/phc-string-format, phc-sf-spec.md.

internal import OMSecrets

/// A PHC string, cut into its fields. The fields are not interpreted yet.
struct PHCString {
    var id: String
    var version: Int?
    /// In the string's order.
    var parameters: [(name: String, value: String)] = []
    var salt: [UInt8]?
    var hash: [UInt8]?

    /// The longest string that is read: no password has a hash of 1 MiB.
    static let longest = 4096

    init(id: String) { self.id = id }

    /// - Throws: ``CryptoError/malformedHash``.
    init(parsing text: String) throws(CryptoError) {
        guard text.utf8.count <= Self.longest, text.utf8.first == UInt8(ascii: "$") else { throw .malformedHash }
        var fields = text.utf8.dropFirst().split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }[...]
        guard let id = fields.popFirst(), Self.isName(id) else { throw .malformedHash }
        self.id = id
        if let field = fields.first, let number = Self.value(of: field, named: "v") {
            version = try Self.number(number)
            fields = fields.dropFirst()
        }
        if let field = fields.first, field.contains("=") {
            for part in field.split(separator: ",", omittingEmptySubsequences: false) {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard pair.count == 2, Self.isName(pair[0]), !parameters.contains(where: { $0.name == pair[0] }) else {
                    throw .malformedHash
                }
                parameters.append((pair[0], pair[1]))
            }
            fields = fields.dropFirst()
        }
        salt = try fields.popFirst().map(Self.bytes)
        hash = try fields.popFirst().map(Self.bytes)
        guard fields.isEmpty else { throw .malformedHash }
    }

    var text: String {
        var text = "$\(id)"
        if let version { text += "$v=\(version)" }
        if !parameters.isEmpty { text += "$" + parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",") }
        if let salt { text += "$" + Base64.encode(salt, .unpadded) }
        if let hash { text += "$" + Base64.encode(hash, .unpadded) }
        return text
    }

    /// The values of the parameters. Their names must be `names`, in this order.
    func numbers(_ names: [String]) throws(CryptoError) -> [Int] {
        guard parameters.map(\.name) == names else { throw .malformedHash }
        var numbers: [Int] = []
        for (_, value) in parameters { numbers.append(try Self.number(value)) }
        return numbers
    }

    /// A decimal number in its only valid form. A second form would give a second string for the same hash.
    static func number(_ text: some StringProtocol) throws(CryptoError) -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || text.utf8.first != 0x30,
            text.utf8.count <= 10, let number = Int(text)
        else { throw .malformedHash }
        return number
    }

    static func bytes(_ text: String) throws(CryptoError) -> [UInt8] {
        do { return try Base64.decode(text, .unpadded) } catch { throw .malformedHash }
    }

    private static func value(of field: String, named name: String) -> Substring? {
        field.hasPrefix(name + "=") && !field.contains(",") ? field.dropFirst(name.count + 1) : nil
    }

    static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
