// A line of `add --from-jsonl`: the document that `omvault show ITEM --reveal --json` prints. docs/reference/json.md
// describes it.

internal import OMItems
internal import OMJSON
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The members of a line. No value of a field becomes a String, and no error has a text of the line but an item's or a
/// field's name.
struct ItemLine: ~Copyable {
    private var name: ItemName?
    private var level: String?
    private var isDeviceOnly = false
    /// The fields that the line shows. Nil if it does not say.
    private var shown: [FieldName]?
    private var hasFields = false
    private var change = ItemChange()

    /// - Parameter level: The level of `--level`, which comes before the line's own. Nil if it was not given.
    /// - Throws: `Failure` or `MalformedJSON` for anything but one item that the vault could take.
    static func item(_ line: Span<UInt8>, level: ProtectionLevel?) throws -> NewItem {
        var read = ItemLine()
        // The document, its fields, and a value that is an object.
        var tokens = JSONTokenizer(0..<line.count, deepest: 3)
        guard try tokens.token(in: line) == .object else { throw Failure(line: "no object") }
        var number = 0
        while case .name(let member)? = try tokens.token(in: line) {
            number += 1
            try read.member(JSONText.decode(member, in: line), number: number, tokens: &tokens, in: line)
        }
        // Nothing may follow the object.
        _ = try tokens.token(in: line)
        return try read.item(level: level)
    }

    private consuming func item(level given: ProtectionLevel?) throws -> NewItem {
        guard let name else { throw Failure(line: "no \"name\"") }
        guard hasFields else { throw Failure(line: "no \"fields\"") }
        guard level != nil || !isDeviceOnly else { throw Failure(line: "\"device_only\" without \"level\"") }
        let own = try level.map { text throws(Failure) in
            guard let level = ProtectionLevel(named: text) else { throw Failure(line: "no protection level in \"level\"") }
            return ProtectionLevel(level.availability, deviceOnly: level.isDeviceOnly || isDeviceOnly)
        }
        let fields = change.set.names
        if let missing = shown?.first(where: { !fields.contains($0) }) {
            throw Failure(line: "\"shown\" names the field \(missing.text.shown), which \"fields\" does not have")
        }
        if let shown {
            change.shown = shown
        } else if case .becomes(let type) = change.type {
            change.shown = fields.filter(type.shows)
        }
        let item = NewItem(name, level: given ?? own, change)
        try checked { () throws(VaultError) in try item.check() }
        return item
    }

    // MARK: - Members

    private mutating func member(
        _ member: String, number: Int, tokens: inout JSONTokenizer, in line: Span<UInt8>
    ) throws {
        switch member {
        case "schema":
            guard try Self.text(member, &tokens, line) == "omvault/1" else {
                throw Failure(line: "a schema that is not known here")
            }
        case "name":
            let text = try Self.text(member, &tokens, line)
            name = try checked { () throws(VaultError) in try ItemName(text) }
        case "type":
            guard let type = ItemType(rawValue: try Self.text(member, &tokens, line)) else {
                throw Failure(line: "no type of items in \"type\"")
            }
            change.type = .becomes(type)
        case "level": level = try Self.text(member, &tokens, line)
        case "device_only":
            guard case .bool(let flag)? = try tokens.token(in: line) else { throw Failure(line: "no boolean in \"\(member)\"") }
            isDeviceOnly = flag
        case "tags":
            for text in try Self.texts(member, &tokens, line) {
                change.addedTags.append(try checked { () throws(VaultError) in try ItemTag(text) })
            }
        case "expires":
            guard let argument = ExpiryArgument(argument: try Self.text(member, &tokens, line)) else {
                throw Failure(line: "no time in \"expires\", \(ExpiryArgument.help)")
            }
            change.expires = argument.update
        case "shown":
            shown = try Self.texts(member, &tokens, line).map { text in
                try checked { () throws(VaultError) in try FieldName(text) }
            }
        case "fields": try fields(&tokens, line)
        // A new item is of now and has revision 1.
        case "revision":
            guard case .number? = try tokens.token(in: line) else { throw Failure(line: "no number in \"\(member)\"") }
        case "created", "modified": _ = try Self.time(member, &tokens, line)
        case "id": throw Failure(line: "\"id\": ls and find print such lines, which have no values")
        case _ where ItemType.allCases.contains { $0.usualFields.contains(member) }:
            throw Failure(line: "\"\(member)\" is outside \"fields\"")
        // Attack: a value is in the place of a name, and a message shows it at the terminal or in a log.
        default: throw Failure(line: "member \(number) is not known here")
        }
    }

    private mutating func fields(_ tokens: inout JSONTokenizer, _ line: Span<UInt8>) throws {
        guard try tokens.token(in: line) == .object else { throw Failure(line: "no object in \"fields\"") }
        hasFields = true
        while case .name(let range)? = try tokens.token(in: line) {
            let text = JSONText.decode(range, in: line)
            let name = try checked { () throws(VaultError) in try FieldName(text) }
            let value = try Self.value(of: name, &tokens, line)
            try put(value, at: name)
        }
    }

    private mutating func put(_ value: consuming SecretBytes, at name: FieldName) throws(Failure) {
        guard value.count <= Item.maximumWholeCount else {
            throw Failure(
                .usage, "more than 1 MiB in the field \(name.text.shown)",
                hint: "add a larger value by itself: omvault add ITEM --field NAME=file:PATH")
        }
        do throws(VaultError) { try change.set.put(value, at: name) } catch { throw Failure(error, vault: nil) }
    }

    /// A string, or an object with the one member `base64`.
    private static func value(
        of name: FieldName, _ tokens: inout JSONTokenizer, _ line: Span<UInt8>
    ) throws -> SecretBytes {
        let wrong = Failure(line: "neither a string nor a base64 object in the field \(name.text.shown)")
        switch try tokens.token(in: line) {
        case .string(let range): return secret(range, in: line)
        case .object:
            guard case .name(let member)? = try tokens.token(in: line) else { throw wrong }
            let key = JSONText.decode(member, in: line)
            if key == "concealed" || key == "len" {
                throw Failure(
                    .usage, "no value of the field \(name.text.shown), only that it is concealed",
                    hint: "omvault show ITEM --reveal --json prints values of up to 1 MiB")
            }
            guard key == "base64", case .string(let range)? = try tokens.token(in: line), try tokens.token(in: line) == .objectEnd
            else { throw wrong }
            do throws(SecretsError) { return try Base64.decode(secret(range, in: line)) } catch {
                throw Failure(line: "no base64 in the field \(name.text.shown)")
            }
        default: throw wrong
        }
    }

    private static func secret(_ range: Range<Int>, in line: Span<UInt8>) -> SecretBytes {
        var buffer = SecretBuffer(capacity: range.count)
        JSONText.decode(range, in: line) { buffer.append($0) }
        return buffer.finish()
    }

    // MARK: - Values that are not secret

    private static func text(_ member: String, _ tokens: inout JSONTokenizer, _ line: Span<UInt8>) throws -> String {
        guard case .string(let range)? = try tokens.token(in: line) else { throw Failure(line: "no string in \"\(member)\"") }
        return JSONText.decode(range, in: line)
    }

    private static func texts(_ member: String, _ tokens: inout JSONTokenizer, _ line: Span<UInt8>) throws -> [String] {
        let wrong = Failure(line: "no list of strings in \"\(member)\"")
        guard try tokens.token(in: line) == .list else { throw wrong }
        var texts: [String] = []
        while let token = try tokens.token(in: line), token != .listEnd {
            guard case .string(let range) = token else { throw wrong }
            texts.append(JSONText.decode(range, in: line))
        }
        return texts
    }

    private static func time(_ member: String, _ tokens: inout JSONTokenizer, _ line: Span<UInt8>) throws -> Int64 {
        guard let seconds = Timestamp.seconds(try text(member, &tokens, line)), seconds > 0 else {
            throw Failure(line: "no time in \"\(member)\", such as 2027-01-31 or 2027-01-31T18:00:00Z")
        }
        return seconds
    }
}

/// Runs `body`. Its error gets the words for a user.
private func checked<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(Failure) -> R {
    do throws(VaultError) { return try body() } catch { throw Failure(error, vault: nil) }
}

extension Failure {
    /// A line that is no item. ``ItemLines`` adds its number.
    fileprivate init(line message: String) {
        self.init(.usage, message, hint: "omvault show ITEM --reveal --json prints a line as it has to be")
    }
}
