// Questions and changes of items as bytes. Format: docs/formats/agent-protocol.md, "Requests".

package import OMItems
package import OMRecords
package import OMSecrets

extension ItemRequest {
    /// - Returns: The values whose files go with the frame, in their order.
    @discardableResult
    package consuming func encode(into body: inout SecretBuffer) -> [SpooledValue] {
        var spooled: [SpooledValue] = []
        switch consume self {
        case .items(let trashed): body.write(tag: 1, trashed)
        case .item(let name): body.write(tag: 2, name)
        case .secret(let path, let revision): body.write(tag: 3, path.item, path.field, revision)
        case .secrets(let name, let revision): body.write(tag: 4, name, revision)
        case .add(let name, let level, let change):
            body.write(tag: 5, name, level)
            body.write(change)
            spooled = change.set.spooled.map(\.value)
        case .update(let name, let change, let revision):
            body.write(tag: 6, name)
            body.write(change)
            body.write(revision)
            spooled = change.set.spooled.map(\.value)
        case .history(let name): body.write(tag: 7, name)
        case .setLevel(let name, let level, let revision): body.write(tag: 8, name, level, revision)
        case .trash(let names, let revision): body.write(tag: 9, LongList(names), revision)
        case .purge(let names, let revision): body.write(tag: 10, LongList(names), revision)
        case .purgeTrash(let names): body.write(tag: 11, names.map { LongList($0) })
        case .restore(let name, let id, let revision): body.write(tag: 12, name, id.map { WireID($0) }, revision)
        case .purgeID(let id, let level): body.write(tag: 13, WireID(id), level)
        case .entries(let id, let level): body.write(tag: 14, WireID(id), level)
        case .find(let search, let trashed):
            body.write(tag: 15, trashed)
            body.write(search)
        case .rename(let names, let revision): body.write(tag: 16, LongList(names), revision)
        case .copy(let names, let level, let revision): body.write(tag: 17, LongList(names), level, revision)
        case .chunk(let index, let path, let revision, let digest):
            body.write(tag: 18, UInt32(index), path.item, path.field, revision)
            body.append(digest.span)
        case .compare(let name, let old, let new): body.write(tag: 19, name, old, new)
        case .addAll(let items):
            body.write(tag: 20, LongList(items))
            spooled = items.flatMap { $0.change.set.spooled.map(\.value) }
        case .names(let trashed): body.write(tag: 21, trashed)
        case .findNames(let search, let trashed):
            body.write(tag: 22, trashed)
            body.write(search)
        }
        return spooled
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .items(trashed: try wire.read())
        case 2: self = .item(try wire.read())
        case 3: self = .secret(FieldPath(try wire.read(), try wire.read()), revision: try wire.read())
        case 4: self = .secrets(try wire.read(), revision: try wire.read())
        case 5: self = .add(try wire.read(), level: try wire.read(), try wire.read())
        case 6: self = .update(try wire.read(), try wire.read(), ifRevision: try wire.read())
        case 7: self = .history(try wire.read())
        case 8: self = .setLevel(try wire.read(), try wire.read(), ifRevision: try wire.read())
        case 9: self = .trash(try wire.longList(), ifRevision: try wire.read())
        case 10: self = .purge(try wire.longList(), ifRevision: try wire.read())
        case 11: self = .purgeTrash(try wire.read(LongList<ItemName>?.self)?.elements)
        case 12: self = .restore(try wire.read(), id: try wire.read(WireID?.self)?.bytes, revision: try wire.read())
        case 13: self = .purgeID(try wire.read(WireID.self).bytes, level: try wire.read())
        case 14: self = .entries(id: try wire.read(WireID.self).bytes, level: try wire.read())
        case 15:
            let trashed: Bool = try wire.read()
            self = .find(try wire.read(), trashed: trashed)
        case 16: self = .rename(try wire.longList(), ifRevision: try wire.read())
        case 17: self = .copy(try wire.longList(), level: try wire.read(), ifRevision: try wire.read())
        case 18:
            let index = Int(try wire.read(UInt32.self))
            let path = FieldPath(try wire.read(), try wire.read())
            self = .chunk(index, of: path, revision: try wire.read(), digest: try wire.bytes(32))
        case 19: self = .compare(try wire.read(), old: try wire.read(), new: try wire.read())
        case 20: self = .addAll(try wire.longList(upTo: NewItem.maximumAtOnce))
        case 21: self = .names(trashed: try wire.read())
        case 22:
            let trashed: Bool = try wire.read()
            self = .findNames(try wire.read(), trashed: trashed)
        default: throw MalformedBytes()
        }
    }

    /// Whether the agent can answer it with the keys that remain while the vault is locked. It cannot add, copy or rename
    /// an item: a locked item may have the same name.
    package var isForLockedToo: Bool {
        switch self {
        case .item: true
        case .secret: true
        case .chunk: true
        case .secrets: true
        case .history: true
        case .compare: true
        case .update: true
        default: false
        }
    }
}
