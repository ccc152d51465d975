internal import OMSecrets

/// The members of a JSON object, asked for by name and type: what is missing or of another type ends the reading.
struct Fields: Sendable {
    private let members: [String: JSON]
    /// Where the object stands, for the reason: `test 12`.
    let place: String

    init(_ members: [String: JSON], at place: String) {
        (self.members, self.place) = (members, place)
    }

    init(_ value: JSON, at place: String) throws(Unreadable) {
        guard case .object(let members) = value else { throw Unreadable("\(place): not an object") }
        self.init(members, at: place)
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    func isNull(_ name: String) -> Bool { members[name] == .null }

    func text(_ name: String) throws(Unreadable) -> String {
        guard case .string(let text) = try value(name) else { throw wrong(name, "text") }
        return text
    }

    /// A whole number from 0.
    func number(_ name: String) throws(Unreadable) -> Int {
        guard case .integer(let number) = try value(name), number >= 0 else { throw wrong(name, "a number from 0") }
        return number
    }

    func bytes(_ name: String) throws(Unreadable) -> [UInt8] {
        let text = try text(name)
        do { return try Hex.decode(text) } catch { throw wrong(name, "hex") }
    }

    /// Bytes of a given length, for a key or an IV whose wrong length would be refused for the wrong reason.
    func bytes(_ name: String, count: Int) throws(Unreadable) -> [UInt8] {
        let bytes = try bytes(name)
        guard bytes.count == count else { throw wrong(name, "\(count) bytes") }
        return bytes
    }

    func objects(_ name: String) throws(Unreadable) -> [Fields] {
        guard case .array(let elements) = try value(name) else { throw wrong(name, "an array") }
        var objects: [Fields] = []
        for (index, element) in elements.enumerated() {
            objects.append(try Fields(element, at: "\(place), \(name) \(index + 1)"))
        }
        return objects
    }

    func object(_ name: String) throws(Unreadable) -> Fields {
        try Fields(try value(name), at: "\(place), \(name)")
    }

    func hexes(_ name: String) throws(Unreadable) -> [[UInt8]] {
        guard case .array(let elements) = try value(name) else { throw wrong(name, "an array") }
        var list: [[UInt8]] = []
        for element in elements {
            guard case .string(let text) = element else { throw wrong(name, "an array of hex") }
            do { list.append(try Hex.decode(text)) } catch { throw wrong(name, "an array of hex") }
        }
        return list
    }

    /// Refuses members with other names: a misspelt one would otherwise be left out of the check.
    func requireOnly(_ names: Set<String>) throws(Unreadable) {
        guard let other = members.keys.filter({ !names.contains($0) }).min() else { return }
        throw Unreadable("\(place): unknown field “\(other.prefix(40))”")
    }

    func wrong(_ name: String, _ wanted: String) -> Unreadable { Unreadable("\(place): \(name) is not \(wanted)") }

    private func value(_ name: String) throws(Unreadable) -> JSON {
        guard let value = members[name] else { throw Unreadable("\(place): \(name) is missing") }
        return value
    }
}
