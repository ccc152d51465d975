// The pieces that messages are made of. Writing goes into locked memory; reading is strict: what the page does not
// allow is refused.

internal import OMRecords
internal import OMSecrets
internal import OMVault

extension SecretBuffer {
    mutating func append(number: some FixedWidthInteger) {
        let width = number.bitWidth / 8
        append(upTo: width) { free in
            for index in 0..<width { free[index] = UInt8(truncatingIfNeeded: number >> (8 * (width - 1 - index))) }
            return width
        }
    }

    /// count (2) ‖ UTF-8
    mutating func append(text: String) {
        append(number: UInt16(text.utf8.count))
        append(text.utf8Span.span)
    }

    /// count (4) ‖ bytes
    mutating func append(counted secret: borrowing SecretBytes) {
        append(number: UInt32(secret.count))
        append(secret)
    }

    /// 0, or 1 ‖ what `body` writes.
    mutating func append<Value>(
        optional value: Value?, _ body: (inout SecretBuffer, Value) -> Void
    ) {
        append(value == nil ? 0 : 1)
        if let value { body(&self, value) }
    }

    mutating func append(revision: UInt64?) { append(optional: revision) { $0.append(number: $1) } }

    /// count (4) ‖ texts
    mutating func append(list names: [String]) {
        append(number: UInt32(names.count))
        for name in names { append(text: name) }
    }

    /// count (2) ‖ per field: name, secret
    mutating func append(values: borrowing FieldValues) {
        append(number: UInt16(values.names.count))
        values.forEach { (name, secret) in
            append(text: name.text)
            append(counted: secret)
        }
    }

    /// optional scope: item name (flag), field names ‖ count (1) ‖ per word: count (2) ‖ bytes
    mutating func append(search: borrowing ItemSearch) {
        append(optional: search.scope) {
            $0.append($1.hasItemName ? 1 : 0)
            $0.append(list: $1.fields.map(\.text))
        }
        append(UInt8(search.wordCount))
        search.forEach { word in
            append(number: UInt16(word.count))
            append(word)
        }
    }

    mutating func append(place: AgentPlace) {
        append(text: place.vault)
        append(text: place.device)
    }

    /// name ‖ level ‖ id (16) ‖ revision (8) ‖ created (8) ‖ modified (8) ‖ in trash ‖ fields
    mutating func append(item: Item) {
        append(text: item.name.text)
        append(item.level.code)
        append(item.id.span)
        append(number: item.revision)
        append(number: item.created)
        append(number: item.modified)
        append(item.isTrashed ? 1 : 0)
        append(fields: item.fields)
    }

    /// count (4) ‖ per place: level ‖ key of the entry (16) ‖ optional item
    mutating func append(places: [ItemPlace]) {
        append(number: UInt32(places.count))
        for place in places {
            append(place.level.code)
            append(place.entry.span)
            append(optional: place.item) { $0.append(item: $1) }
        }
    }

    /// count (2) ‖ per field: name, count (4)
    mutating func append(fields: [Item.Field]) {
        append(number: UInt16(fields.count))
        for field in fields {
            append(text: field.name.text)
            append(number: UInt32(field.count))
        }
    }
}

extension ByteCursor {
    mutating func byte(in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt8 { try number(in: bytes) }

    mutating func text(in bytes: Span<UInt8>) throws(MalformedBytes) -> String {
        try text(Int(try number(UInt16.self, in: bytes)), in: bytes)
    }

    mutating func flag(in bytes: Span<UInt8>) throws(MalformedBytes) -> Bool {
        switch try byte(in: bytes) {
        case 0: false
        case 1: true
        default: throw MalformedBytes()
        }
    }

    mutating func level(in bytes: Span<UInt8>) throws(MalformedBytes) -> ProtectionLevel {
        guard let level = ProtectionLevel(code: try byte(in: bytes)) else { throw MalformedBytes() }
        return level
    }

    mutating func secret(in bytes: Span<UInt8>) throws(MalformedBytes) -> SecretBytes {
        let range = try skip(Int(try number(UInt32.self, in: bytes)), in: bytes)
        return SecretBytes(copying: bytes.extracting(range))
    }

    mutating func itemName(in bytes: Span<UInt8>) throws(MalformedBytes) -> ItemName {
        let text = try text(in: bytes)
        do throws(VaultError) { return try ItemName(text) } catch { throw MalformedBytes() }
    }

    mutating func fieldName(in bytes: Span<UInt8>) throws(MalformedBytes) -> FieldName {
        let text = try text(in: bytes)
        do throws(VaultError) { return try FieldName(text) } catch { throw MalformedBytes() }
    }

    mutating func fieldNames(in bytes: Span<UInt8>) throws(MalformedBytes) -> [FieldName] {
        let count = try number(UInt32.self, in: bytes)
        guard count <= Item.maximumFields else { throw MalformedBytes() }
        return try (0..<count).map { _ throws(MalformedBytes) in try fieldName(in: bytes) }
    }

    mutating func itemNames(in bytes: Span<UInt8>) throws(MalformedBytes) -> [ItemName] {
        var names: [ItemName] = []
        for _ in 0..<(try number(UInt32.self, in: bytes)) { names.append(try itemName(in: bytes)) }
        return names
    }

    mutating func values(in bytes: Span<UInt8>) throws(MalformedBytes) -> FieldValues {
        var values = FieldValues()
        for _ in 0..<(try number(UInt16.self, in: bytes)) {
            let name = try fieldName(in: bytes)
            let secret = try secret(in: bytes)
            do throws(VaultError) { try values.put(secret, at: name) } catch { throw MalformedBytes() }
        }
        return values
    }

    mutating func revision(in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt64? {
        try flag(in: bytes) ? try number(UInt64.self, in: bytes) : nil
    }

    mutating func search(in bytes: Span<UInt8>) throws(MalformedBytes) -> ItemSearch {
        var scope: ItemSearch.Scope?
        if try flag(in: bytes) {
            let hasItemName = try flag(in: bytes)
            scope = ItemSearch.Scope(itemName: hasItemName, fields: try fieldNames(in: bytes))
        }
        var search = ItemSearch(in: scope)
        for _ in 0..<(try byte(in: bytes)) {
            let word = try skip(Int(try number(UInt16.self, in: bytes)), in: bytes)
            // A request has one spelling.
            guard ItemSearch.isFolded(bytes.extracting(word)), search.add(bytes.extracting(word)) else {
                throw MalformedBytes()
            }
        }
        guard search.wordCount > 0 else { throw MalformedBytes() }
        return search
    }

    mutating func place(in bytes: Span<UInt8>) throws(MalformedBytes) -> AgentPlace {
        let vault = try text(in: bytes)
        guard let place = AgentPlace(vault: vault, device: try text(in: bytes)) else { throw MalformedBytes() }
        return place
    }

    mutating func fields(in bytes: Span<UInt8>) throws(MalformedBytes) -> [Item.Field] {
        let count = try number(UInt16.self, in: bytes)
        guard count <= Item.maximumFields else { throw MalformedBytes() }
        return try (0..<count).map { _ throws(MalformedBytes) in
            let name = try fieldName(in: bytes)
            return Item.Field(name: name, count: Int(try number(UInt32.self, in: bytes)))
        }
    }

    mutating func places(in bytes: Span<UInt8>) throws(MalformedBytes) -> [ItemPlace] {
        var places: [ItemPlace] = []
        for _ in 0..<(try number(UInt32.self, in: bytes)) {
            let level = try level(in: bytes)
            let entry = try take(16, in: bytes)
            places.append(ItemPlace(level: level, entry: entry, item: try flag(in: bytes) ? try item(in: bytes) : nil))
        }
        return places
    }

    mutating func item(in bytes: Span<UInt8>) throws(MalformedBytes) -> Item {
        Item(
            name: try itemName(in: bytes), level: try level(in: bytes), id: try take(16, in: bytes),
            revision: try number(in: bytes), created: try number(in: bytes), modified: try number(in: bytes),
            isTrashed: try flag(in: bytes), fields: try fields(in: bytes))
    }
}
