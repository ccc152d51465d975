// The parts of requests and answers about a vault. Format: docs/formats/agent-protocol.md.

package import OMItems
package import OMRecords
package import OMSecrets

extension PurgeResult: WireValue {}
extension AgentVaultState: WireValue {}

extension ItemName: WireValue {
    package func write(to body: inout SecretBuffer) { text.write(to: &body) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let text: String = try wire.read()
        do throws(VaultError) { self = try ItemName(text) } catch { throw MalformedBytes() }
    }
}

/// count (4) ‖ the names as UTF-8, each with a newline behind it
extension ItemNames: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(UInt32(lines.count))
        body.append(lines.span)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let names = ItemNames(lines: try wire.bytes(Int(try wire.read(UInt32.self)))) else { throw MalformedBytes() }
        self = names
    }
}

extension FieldName: WireValue {
    package func write(to body: inout SecretBuffer) { text.write(to: &body) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let text: String = try wire.read()
        do throws(VaultError) { self = try FieldName(text) } catch { throw MalformedBytes() }
    }
}

extension ProtectionLevel: WireValue {
    package func write(to body: inout SecretBuffer) { body.append(code) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let level = ProtectionLevel(code: try wire.read()) else { throw MalformedBytes() }
        self = level
    }
}

/// item name ‖ new name
extension NewName: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(item, name) }

    package init(from wire: inout WireReader) throws(MalformedBytes) { self.init(try wire.read(), try wire.read()) }
}

/// item name ‖ optional level ‖ change
extension NewItem: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(name, level)
        body.write(change)
    }

    package convenience init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(try wire.read(), level: try wire.read(), try wire.read())
    }
}

/// Two texts: the vault's path and the device folder's.
extension VaultPaths: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(vault, device) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let paths = VaultPaths(vault: try wire.read(), device: try wire.read()) else { throw MalformedBytes() }
        self = paths
    }
}

/// name ‖ count (4) ‖ optional shown value
extension Item.Field: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(name, UInt32(count), shownValue) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(name: try wire.read(), count: Int(try wire.read(UInt32.self)), shownValue: try wire.read())
    }
}

/// The type's number in a content, and 0 for none ‖ optional expiry (8) ‖ tags
extension ItemDetails: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(type?.code ?? 0, expires)
        body.write(shortList: tags)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let code: UInt8 = try wire.read()
        let type = ItemType(code: code)
        guard code == 0 || type != nil else { throw MalformedBytes() }
        let expires: Int64? = try wire.read()
        self.init(type: type, tags: try wire.shortList(upTo: Item.maximumTags), expires: expires)
    }
}

extension ItemTag: WireValue {
    package func write(to body: inout SecretBuffer) { text.write(to: &body) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let text: String = try wire.read()
        do throws(VaultError) { self = try ItemTag(text) } catch { throw MalformedBytes() }
    }
}

extension ItemType: WireValue {
    package func write(to body: inout SecretBuffer) { body.append(code) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let type = ItemType(code: try wire.read()) else { throw MalformedBytes() }
        self = type
    }
}

/// 0 stays, 1 is removed, or 2 ‖ value
extension ItemChange.Update: WireValue where Value: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .stays: body.append(0)
        case .removed: body.append(1)
        case .becomes(let value): body.write(tag: 2, value)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .stays
        case 1: self = .removed
        case 2: self = .becomes(try wire.read())
        default: throw MalformedBytes()
        }
    }
}

/// values ‖ large values ‖ removed fields ‖ shown ‖ concealed ‖ type ‖ expiry ‖ added tags ‖ removed tags
extension ItemChange: WireValue {
    package borrowing func write(to body: inout SecretBuffer) {
        body.write(set)
        body.write(UInt16(set.spooled.count))
        for field in set.spooled {
            let position = set.names.firstIndex(of: field.name) ?? 0
            body.write(UInt16(position), field.name, UInt32(field.value.count))
            let digest = field.value.digest
            body.append(digest.span)
            field.value.withKey { key in key.withExposedBytes { body.append($0) } }
        }
        for names in [removed, shown, concealed] { body.write(longList: names) }
        body.write(type, expires)
        for tags in [addedTags, removedTags] { body.write(longList: tags) }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        var values: FieldValues = try wire.read()
        var last = -1
        for _ in 0..<(try wire.read(UInt16.self)) {
            let position = Int(try wire.read(UInt16.self))
            let name: FieldName = try wire.read()
            guard position > last, position <= values.names.count else { throw MalformedBytes() }
            last = position
            let value = try wire.spooledValue()
            do throws(VaultError) { try values.insert(value, at: name, position: position) } catch {
                throw MalformedBytes()
            }
        }
        let removed: [FieldName] = try wire.longList(upTo: Item.maximumFields)
        let shown: [FieldName] = try wire.longList(upTo: Item.maximumFields)
        let concealed: [FieldName] = try wire.longList(upTo: Item.maximumFields)
        let (type, expires): (Update<ItemType>, Update<Int64>) = (try wire.read(), try wire.read())
        let addedTags: [ItemTag] = try wire.longList(upTo: Item.maximumTags)
        let removedTags: [ItemTag] = try wire.longList(upTo: Item.maximumTags)
        self.init(set: values, removing: removed)
        (self.shown, self.concealed, self.type, self.expires) = (shown, concealed, type, expires)
        (self.addedTags, self.removedTags) = (addedTags, removedTags)
    }
}

/// name ‖ level ‖ id (16) ‖ revision (8) ‖ created (8) ‖ modified (8) ‖ in trash ‖ details ‖ fields
extension Item: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(name, level, WireID(id), revision, created, modified, isTrashed, details)
        body.write(shortList: fields)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            name: try wire.read(), level: try wire.read(), id: try wire.read(WireID.self).bytes, revision: try wire.read(),
            created: try wire.read(), modified: try wire.read(), isTrashed: try wire.read(), details: try wire.read(),
            fields: try wire.shortList(upTo: Item.maximumFields))
    }
}

/// revision (8) ‖ modified (8) ‖ in trash ‖ details ‖ fields
extension ItemVersion: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(revision, modified, isTrashed, details)
        body.write(shortList: fields)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            revision: try wire.read(), modified: try wire.read(), isTrashed: try wire.read(), details: try wire.read(),
            fields: try wire.shortList(upTo: Item.maximumFields))
    }
}

/// level ‖ key of the entry (16) ‖ optional item
extension EntryReference: WireValue {
    package func write(to body: inout SecretBuffer) { body.write(level, WireID(entry), item) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(level: try wire.read(), entry: try wire.read(WireID.self).bytes, item: try wire.read())
    }
}

/// count (2) ‖ per field in memory: name, secret
extension FieldValues: WireValue {
    package borrowing func write(to body: inout SecretBuffer) {
        body.write(UInt16(names.count - spooled.count))
        forEach { (name, secret) in
            body.write(name)
            body.write(secret)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        var values = FieldValues()
        for _ in 0..<(try wire.read(UInt16.self)) {
            let name: FieldName = try wire.read()
            let secret: SecretBytes = try wire.read()
            do throws(VaultError) { try values.put(secret, at: name) } catch { throw MalformedBytes() }
        }
        self = values
    }
}

/// item name (flag) ‖ field names
extension ItemSearch.Scope: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(hasItemName)
        body.write(longList: fields)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(itemName: try wire.read(), fields: try wire.longList(upTo: Item.maximumFields))
    }
}

/// optional scope ‖ count (1) ‖ per word: count (2) ‖ bytes
extension ItemSearch: WireValue {
    package borrowing func write(to body: inout SecretBuffer) {
        body.write(scope, UInt8(wordCount))
        forEach { word in
            body.write(UInt16(word.count))
            body.append(word)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        var search = ItemSearch(in: try wire.read())
        for _ in 0..<(try wire.read(UInt8.self)) {
            let count = Int(try wire.read(UInt16.self))
            // A request has only one form, so capitals are refused.
            let isAdded = try wire.lent(count) { word in ItemSearch.isFolded(word) && search.add(word) }
            guard isAdded else { throw MalformedBytes() }
        }
        guard search.wordCount > 0 else { throw MalformedBytes() }
        self = search
    }
}

extension WireReader {
    /// count (4) ‖ digest (32) ‖ key (32); its file came with the frame.
    @_lifetime(self: copy self)
    fileprivate mutating func spooledValue() throws(MalformedBytes) -> SpooledValue {
        let count = Int(try read(UInt32.self))
        guard (1...Item.maximumFieldCount).contains(count) else { throw MalformedBytes() }
        let digest = try bytes(32)
        let key: Key<Sealing> = try key()
        return SpooledValue(received: try file(), key, count: count, digest: digest)
    }

    @_lifetime(self: copy self)
    package mutating func key<Use>() throws(MalformedBytes) -> Key<Use> {
        let bytes = try lent(Key<Use>.count) { bytes in SecretBytes(copying: bytes) }
        do throws(SecretsError) { return try Key(readFrom: bytes) } catch { throw MalformedBytes() }
    }
}
