// What every reader gives: the cases it can run, the ones it cannot and why. Or it gives up on the whole file.

/// The cases of one file.
struct Reading: Sendable {
    let format: VectorFormat
    var cases: [VectorCase] = []
    var skips: [Skip] = []

    mutating func skip(_ count: Int, _ reason: String) {
        if let known = skips.firstIndex(where: { $0.reason == reason }) {
            skips[known].count += count
        } else {
            skips.append(Skip(reason: reason, count: count))
        }
    }
}

/// The formats that are read, by the names that reports give them.
public enum VectorFormat: String, Hashable, Sendable {
    case cavp = "CAVP"
    case wycheproof = "Wycheproof"
    case native = "omvault-vectors/1"
}

/// Cases that were not run.
public struct Skip: Hashable, Sendable {
    public let reason: String
    public internal(set) var count: Int
}

/// Why a file was given up: no case of it is run, for half a file proves nothing.
struct Unreadable: Error, Hashable, Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension Reading {
    /// Reads a file of any known format, which its content tells; `name` only helps where a CAVP file lost its header.
    static func of(_ bytes: [UInt8], named name: String) throws(Unreadable) -> Reading {
        guard !bytes.isEmpty else { throw Unreadable("the file is empty") }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw Unreadable("not text: no vector format is binary")
        }
        guard let first = bytes.first(where: { !JSON.isSpace($0) }) else { throw Unreadable("the file is blank") }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") && JSON.opensArray(bytes) else {
            return try CAVPReader.read(text, fileName: name)
        }
        let document = try JSON(parsing: bytes)
        guard case .object(let members) = document else {
            throw Unreadable("a JSON array, as ACVP files are: not read yet")
        }
        if members["format"] != nil { return try NativeReader.read(Fields(members, at: "file")) }
        if members["testGroups"] != nil, members["algorithm"] != nil {
            return try WycheproofReader.read(Fields(members, at: "file"))
        }
        throw Unreadable("JSON, but neither Wycheproof nor omvault-vectors/1")
    }
}
