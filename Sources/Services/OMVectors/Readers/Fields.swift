internal import OMJSON
internal import OMSecrets

/// The named fields of one record, or of its group. A kind asks for a field by name and type. A missing field, or a field of
/// another type, ends the reading. JSON objects and records of text files have this one form.
struct Fields: Sendable {
    private var members: [String: JSON]
    /// The place of the object or the record, for messages: `file, testGroups 1, tests 2` or `line 10`.
    let place: String
    /// In a text file, the line of each field. Nil for JSON, in which a number is not a text of digits.
    private let lines: [String: Int]?

    init(_ members: [String: JSON], at place: String) {
        (self.members, self.place, lines) = (members, place, nil)
    }

    init(_ value: JSON, at place: String) throws(UnreadableFile) {
        guard case .object(let members) = value else { throw UnreadableFile("\(place): not an object") }
        self.init(members, at: place)
    }

    /// A record of a text file.
    init(text members: [(name: String, value: String, line: Int)], at line: Int) {
        place = "line \(line)"
        lines = Dictionary(members.map { ($0.name, $0.line) }) { _, last in last }
        self.members = Dictionary(members.map { ($0.name, .string($0.value)) }) { _, last in last }
    }

    // MARK: Asking

    var names: Set<String> { Set(members.keys) }

    func has(_ name: String) -> Bool { members[name] != nil }

    func isNull(_ name: String) -> Bool { members[name] == .null }

    func text(_ name: String) throws(UnreadableFile) -> String {
        guard case .string(let text) = try value(name) else { throw wrong(name, "text") }
        return text
    }

    /// A whole number, 0 or more.
    func number(_ name: String) throws(UnreadableFile) -> Int {
        switch try value(name) {
        case .number(let digits):
            guard let number = Int(digits), number >= 0 else { throw wrong(name, "a number from 0") }
            return number
        case .string(let text) where lines != nil:
            let isDecimal =
                !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isDecimal, let number = Int(text) else { throw wrong(name, "a number in range") }
            return number
        default: throw wrong(name, "a number from 0")
        }
    }

    func flag(_ name: String) throws(UnreadableFile) -> Bool {
        guard case .bool(let flag) = try value(name) else { throw wrong(name, "true or false") }
        return flag
    }

    /// Hex, in either case.
    func bytes(_ name: String) throws(UnreadableFile) -> [UInt8] {
        let text = try text(name)
        do { return try Hex.decode(text) } catch { throw wrong(name, "hex") }
    }

    /// Bytes of a given length. For a key or an IV: the cipher would refuse a wrong length for the wrong reason.
    func bytes(_ name: String, count: Int) throws(UnreadableFile) -> [UInt8] {
        let bytes = try bytes(name)
        guard bytes.count == count else { throw wrong(name, "\(count) bytes") }
        return bytes
    }

    /// A big-endian integer in hex. Its first digit may be missing, as in CAVP's `e = 1001`.
    func integerBytes(_ name: String) throws(UnreadableFile) -> [UInt8] {
        let text = try text(name)
        do { return try Hex.decode(text.utf8.count % 2 == 0 ? text : "0" + text) } catch { throw wrong(name, "hex") }
    }

    /// Hex, or the ASCII text between two quotes, as in the RFCs' own notation.
    func quotedBytes(_ name: String) throws(UnreadableFile) -> [UInt8] {
        let text = try text(name)
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return try bytes(name) }
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { throw wrong(name, "ASCII") }
        return Array(text.utf8.dropFirst().dropLast())
    }

    /// The text's own bytes. `\0` means a NUL, as in RFC 6070.
    func plainBytes(_ name: String) throws(UnreadableFile) -> [UInt8] {
        Array(try text(name).replacing("\\0", with: "\0").utf8)
    }

    func objects(_ name: String) throws(UnreadableFile) -> [Fields] {
        guard case .array(let elements) = try value(name) else { throw wrong(name, "an array") }
        var objects: [Fields] = []
        for (index, element) in elements.enumerated() {
            objects.append(try Fields(element, at: "\(place), \(name) \(index + 1)"))
        }
        return objects
    }

    func object(_ name: String) throws(UnreadableFile) -> Fields {
        try Fields(try value(name), at: "\(place), \(name)")
    }

    /// An object's own JSON, for a key that is written within a test.
    func objectText(_ name: String) throws(UnreadableFile) -> [UInt8] {
        let value = try value(name)
        guard value.members != nil else { throw wrong(name, "an object") }
        return Array(value.serialized.utf8)
    }

    func texts(_ name: String) throws(UnreadableFile) -> [String] {
        guard case .array(let elements) = try value(name) else { throw wrong(name, "an array") }
        var list: [String] = []
        for element in elements {
            guard case .string(let text) = element else { throw wrong(name, "an array of texts") }
            list.append(text)
        }
        return list
    }

    func hexes(_ name: String) throws(UnreadableFile) -> [[UInt8]] {
        guard case .array(let elements) = try value(name) else { throw wrong(name, "an array") }
        var list: [[UInt8]] = []
        for element in elements {
            guard case .string(let text) = element, let bytes = try? Hex.decode(text) else {
                throw wrong(name, "an array of hex")
            }
            list.append(bytes)
        }
        return list
    }

    /// Refuses members with other names: otherwise the check would miss a misspelled field.
    func requireOnly(_ names: Set<String>) throws(UnreadableFile) {
        guard let other = members.keys.filter({ !names.contains($0) }).min() else { return }
        throw UnreadableFile("\(place): unknown field “\(other.prefix(40))”")
    }

    func wrong(_ name: String, _ wanted: String) -> UnreadableFile {
        UnreadableFile("\(place(of: name)): \(name) is not \(wanted)")
    }

    private func place(of name: String) -> String { lines?[name].map { "line \($0)" } ?? place }

    private func value(_ name: String) throws(UnreadableFile) -> JSON {
        guard let value = members[name] else { throw UnreadableFile("\(place): \(name) is missing") }
        return value
    }

    // MARK: Changing

    /// These fields and `other`'s. A field that both have must have the same value.
    func joined(with other: Fields) throws(UnreadableFile) -> Fields {
        var joined = self
        for (name, value) in other.members {
            guard members[name] == nil || members[name] == value else {
                throw UnreadableFile("\(place): the prompt and the expected results disagree on \(name.prefix(40))")
            }
            joined.members[name] = value
        }
        return joined
    }

    /// The same fields without those called `names`.
    func without(_ names: Set<String>) -> Fields {
        var rest = self
        for name in names { rest.members[name] = nil }
        return rest
    }

    /// The same fields with one bit of `name` flipped: bit `seed` modulo the number of bits. Nil if it has none. `name` may be
    /// `list.member` for the members of a list of objects.
    func flipping(_ name: String, seed: Int) -> Fields? {
        let path = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let value = members[path[0]] else { return nil }
        let flipped = path.count == 2 ? value.flippingMembers(path[1], seed: seed) : value.flippingBit(seed)
        guard let flipped else { return nil }
        var fields = self
        fields.members[path[0]] = flipped
        return fields
    }
}

extension JSON {
    /// The number of hex digits of the value, or of all elements of a list. For another text, the number of characters.
    private var digits: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .array(let elements): elements.reduce(0) { $0 + $1.digits }
        default: 0
        }
    }

    /// Flips one bit of hex, or the lowest bit of a character of any other text.
    fileprivate func flippingBit(_ seed: Int) -> JSON? {
        switch self {
        case .string(let text) where !text.isEmpty:
            var bytes = Array(text.utf8)
            let isHex = bytes.count % 2 == 0 && bytes.allSatisfy { Self.nibble($0) != nil }
            let index = isHex ? seed % (bytes.count * 4) / 4 : seed % bytes.count
            if isHex, let nibble = Self.nibble(bytes[index]) {
                bytes[index] = Array("0123456789abcdef".utf8)[nibble ^ (8 >> (seed % 4))]
            } else {
                bytes[index] ^= 1
            }
            return String(validating: bytes, as: UTF8.self).map { .string($0) }
        case .array(var elements):
            let sizes = elements.map(\.digits)
            guard let index = elements.indices.filter({ sizes[$0] > 0 }).pick(seed) else { return nil }
            guard let flipped = elements[index].flippingBit(seed) else { return nil }
            elements[index] = flipped
            return .array(elements)
        default: return nil
        }
    }

    fileprivate func flippingMembers(_ name: String, seed: Int) -> JSON? {
        guard case .array(var elements) = self else { return nil }
        let places = elements.indices.filter { index in
            if case .object(let members) = elements[index], (members[name]?.digits ?? 0) > 0 { true } else { false }
        }
        guard let index = places.pick(seed), case .object(var members) = elements[index] else { return nil }
        guard let flipped = members[name]?.flippingBit(seed) else { return nil }
        members[name] = flipped
        elements[index] = .object(members)
        return .array(elements)
    }

    private static func nibble(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(digit) - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(digit) - 0x41 + 10
        default: nil
        }
    }
}

extension Array {
    /// Element `seed` modulo the number of elements.
    func pick(_ seed: Int) -> Element? { isEmpty ? nil : self[seed % count] }
}
