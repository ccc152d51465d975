// Answers about items as bytes. Format: docs/formats/agent-protocol.md, "Replies".

package import OMItems
package import OMRecords
package import OMSecrets

extension ItemReply {
    package consuming func encode(into body: inout SecretBuffer) {
        switch consume self {
        case .items(let items): body.write(tag: 1, LongList(items))
        case .item(let item): body.write(tag: 2, item)
        case .secret(let secret):
            body.write(tag: 3)
            body.write(secret)
        case .secrets(let item, let values):
            body.write(tag: 4, item)
            body.write(values)
        case .changed(let item, let purge): body.write(tag: 5, item, purge)
        case .removed(let items, let purge): body.write(tag: 6, LongList(items), purge)
        case .versions(let versions): body.write(tag: 7, LongList(versions))
        case .entries(let places): body.write(tag: 8, LongList(places))
        case .found(let items, let unsearched): body.write(tag: 10, LongList(items), UInt32(clamping: unsearched))
        case .large(let count, let revision, let digest):
            body.write(tag: 9, UInt32(count), revision)
            body.append(digest.span)
        case .compared(let old, let new, let changed):
            body.write(tag: 11, old, new)
            body.write(longList: changed)
        case .names(let names, let unsearched): body.write(tag: 12, names, UInt32(clamping: unsearched))
        case .hasCopies(let names, let revision):
            body.write(tag: 13, revision)
            body.write(longList: names)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .items(try wire.longList())
        case 2: self = .item(try wire.read())
        case 3: self = .secret(try wire.read())
        case 4: self = .secrets(try wire.read(), try wire.read())
        case 5: self = .changed(try wire.read(), purge: try wire.read())
        case 6: self = .removed(try wire.longList(), purge: try wire.read())
        case 7: self = .versions(try wire.longList())
        case 8: self = .entries(try wire.longList())
        case 9:
            self = .large(count: Int(try wire.read(UInt32.self)), revision: try wire.read(), digest: try wire.bytes(32))
        case 10: self = .found(try wire.longList(), unsearched: Int(try wire.read(UInt32.self)))
        case 11:
            self = .compared(try wire.read(), try wire.read(), changed: try wire.longList(upTo: Item.maximumFields))
        case 12: self = .names(try wire.read(), unsearched: Int(try wire.read(UInt32.self)))
        case 13:
            let revision: UInt64 = try wire.read()
            self = .hasCopies(try wire.longList(), revision: revision)
        default: throw MalformedBytes()
        }
    }
}
