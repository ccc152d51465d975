// References between fields: {REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C} is the password of the entry with that UUID.

internal import OMSecrets

/// Puts the values in the place of the references to them.
struct KeePassReferences {
    /// A chain of references longer than this is left as it is, and so is a circle.
    private static let mostSteps = 8
    /// How each reference starts.
    static let start: [StaticString] = ["{REF:"]

    private let places: [String: Int]
    /// The first field of each role, of the entries that were referred to. Attack: many references to an entry of many fields.
    private var known: [Int: [ForeignField.Role: Int]] = [:]
    /// Bytes that may still be copied.
    private var left: Int

    /// - Parameter ids: The UUIDs of the entries in base64, in the order of the entries.
    init(ids: [String], atMost most: Int) {
        var places: [String: Int] = [:]
        for (place, id) in ids.enumerated() {
            guard let bytes = try? Base64.decode(id) else { continue }
            places[Hex.encode(bytes)] = places[Hex.encode(bytes)] ?? place
        }
        (self.places, left) = (places, most)
    }

    /// Only a value that is one reference by UUID is replaced. Other references stay as text, and each is a loss.
    mutating func resolve(_ number: Int, in entries: inout [ForeignEntry]) throws(InterchangeError) {
        for index in entries[number].fields.indices {
            let field = entries[number].fields[index]
            guard field.role != .attachment, Self.isIn(field) else { continue }
            guard let made = try value(of: field, entries) else {
                entries[number].losses.append(.member("reference in \(field.name)"))
                continue
            }
            entries[number].fields[index] = made
        }
    }

    private mutating func value(of field: ForeignField, _ entries: [ForeignEntry]) throws(InterchangeError) -> ForeignField? {
        var source = field, isConcealed = field.isConcealed
        for _ in 0..<Self.mostSteps {
            guard let (wanted, place) = reference(source) else {
                guard !Self.isIn(source) else { return nil }
                // Attack: many entries refer to one large value.
                guard source.value.count <= left else { throw .tooMuch("bytes of copied values") }
                left -= source.value.count
                return ForeignField(field.name, field.role, isConcealed: isConcealed, source.value.duplicate())
            }
            if wanted == "T" {
                let title = SecretBytes(copying: Array(entries[place].title.utf8))
                source = ForeignField("Title", .other, isConcealed: false, title)
                continue
            }
            guard let role = Self.roles[wanted], let index = fields(of: place, entries)[role] else { return nil }
            source = entries[place].fields[index]
            isConcealed = isConcealed || source.isConcealed
        }
        return nil
    }

    private mutating func fields(of place: Int, _ entries: [ForeignEntry]) -> [ForeignField.Role: Int] {
        if let fields = known[place] { return fields }
        var fields: [ForeignField.Role: Int] = [:]
        for (index, field) in entries[place].fields.enumerated() where fields[field.role] == nil { fields[field.role] = index }
        known[place] = fields
        return fields
    }

    private static func isIn(_ field: ForeignField) -> Bool {
        field.value.withBytes { KeePassText.contains($0, anyOf: start) }
    }

    private static let roles: [Character: ForeignField.Role] = ["U": .username, "P": .password, "A": .url, "N": .notes]

    /// What a value refers to, if it is one reference and nothing else.
    private func reference(_ field: ForeignField) -> (wanted: Character, place: Int)? {
        guard field.value.count == "{REF:P@I:}".utf8.count + 32 else { return nil }
        let text = field.value.withBytes { KeePassText.string($0) }.uppercased()
        guard text.hasPrefix("{REF:"), text.hasSuffix("}"), text.dropFirst(6).hasPrefix("@I:"),
            let place = places[text.dropFirst(9).dropLast().lowercased()]
        else { return nil }
        return (text[text.index(text.startIndex, offsetBy: 5)], place)
    }
}
