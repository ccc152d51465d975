// A distinguished name as text: RFC 4514, the most specific part first, without its parts of several attributes.

/// The name of a certificate's subject.
///
///     let name = try DistinguishedName("CN=ada,O=Example GmbH,C=DE")
public struct DistinguishedName: Hashable, Sendable {
    /// One part of the name.
    public struct Attribute: Hashable, Sendable {
        public let type: AttributeType
        public let value: String
    }

    /// The attributes that a request may have. The raw value is OpenSSL's name for it.
    public enum AttributeType: String, CaseIterable, Hashable, Sendable {
        case commonName = "CN"
        case organization = "O"
        case organizationalUnit = "OU"
        case country = "C"
        case state = "ST"
        case locality = "L"
        case street = "street"
        case domainComponent = "DC"
        case userID = "UID"
        case surname = "SN"
        case givenName = "GN"
        case title = "title"
        case serialNumber = "serialNumber"
        case emailAddress = "emailAddress"

        /// In any case, as RFC 4514 says.
        init?(named text: String) {
            let wanted = text.lowercased()
            guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == wanted }) else { return nil }
            self = found
        }
    }

    /// In the order of the text: the most specific first. A certificate has them in the other order.
    public let attributes: [Attribute]

    static let maximumAttributes = 32
    static let maximumValueCount = 1024

    /// - Parameter text: `TYPE=VALUE` parts with commas between them. In a value `\` is before each of `,+"\<>;=#`, a blank at
    ///   an end, or two hex digits of a byte. Blanks around a part are left out.
    /// - Throws: ``CryptoError/invalidName``, also for `+` and `#`, which RFC 4514 has for parts that no request here needs.
    public init(_ text: String) throws(CryptoError) {
        let bytes = Array(text.utf8)
        guard (1...Self.maximumAttributes * Self.maximumValueCount).contains(bytes.count) else { throw .invalidName }
        var (found, position): ([Attribute], Int) = ([], 0)
        repeat {
            guard found.count < Self.maximumAttributes else { throw .invalidName }
            found.append(try Self.attribute(bytes, &position))
        } while Self.skip(UInt8(ascii: ","), bytes, &position)
        guard position == bytes.count else { throw .invalidName }
        attributes = found
    }

    /// The text that ``init(_:)`` reads. One name has one such text.
    public var text: String {
        attributes.map { "\($0.type.rawValue)=\(Self.escaped($0.value))" }.joined(separator: ",")
    }

    // MARK: Reading

    private static let blank = UInt8(ascii: " ")

    private static func skip(_ byte: UInt8, _ bytes: [UInt8], _ position: inout Int) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private static func attribute(_ bytes: [UInt8], _ position: inout Int) throws(CryptoError) -> Attribute {
        while skip(blank, bytes, &position) {}
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "="), bytes[position] != blank { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        while skip(blank, bytes, &position) {}
        guard let type = AttributeType(named: name), skip(UInt8(ascii: "="), bytes, &position) else { throw .invalidName }
        while skip(blank, bytes, &position) {}
        let value = try value(bytes, &position)
        return Attribute(type: type, value: value)
    }

    /// The value up to the next comma, without its escapes and without the blanks at its end.
    private static func value(_ bytes: [UInt8], _ position: inout Int) throws(CryptoError) -> String {
        var (value, end): ([UInt8], Int) = ([], 0)
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\\") {
                value.append(try escape(bytes, &position))
                end = value.count
                continue
            }
            // Attack: another reader takes one of these as the end of the value, and so reads another name.
            let isPlain = !"+\"<>;".utf8.contains(byte) && byte >= 0x20 && byte != 0x7F
            guard isPlain, byte != UInt8(ascii: "#") || !value.isEmpty else { throw .invalidName }
            value.append(byte)
            if byte != blank { end = value.count }
        }
        value.removeLast(value.count - end)
        guard (1...maximumValueCount).contains(value.count), let text = String(validating: value, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw .invalidName }
        return text
    }

    /// The byte behind a backslash: one of the special characters, or two hex digits.
    private static func escape(_ bytes: [UInt8], _ position: inout Int) throws(CryptoError) -> UInt8 {
        guard position < bytes.count else { throw .invalidName }
        let first = bytes[position]
        position += 1
        if ",+\"\\<>;=# ".utf8.contains(first) { return first }
        guard let high = digit(first), position < bytes.count, let low = digit(bytes[position]) else { throw .invalidName }
        position += 1
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x61 + 10
        default: nil
        }
    }

    private static func escaped(_ value: String) -> String {
        let bytes = Array(value.utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isAtEnd = index == 0 || index == bytes.count - 1
            let isSpecial = ",+\"\\<>;".utf8.contains(byte) || byte == UInt8(ascii: "#") && index == 0 || byte == blank && isAtEnd
            if isSpecial { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
