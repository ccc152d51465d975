// A vault's errors as bytes. So a refusal reads the same whether the agent or the command itself made it.
// Format: docs/formats/agent-protocol.md, "Errors". The tags are in VaultError's table.

package import OMItems
package import OMRecords
package import OMSecrets
package import OMSystem

extension VaultError.Part: WireValue {}
extension FileHazard: WireValue {}

extension VaultError: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.append(entry.tag)
        switch self {
        case .corrupt(let part), .rolledBack(let part): body.write(part)
        case .levelLocked(let level): body.write(level)
        case .noItem(let name), .itemExists(let name), .changedMeaning(let name): body.write(name)
        case .ambiguous(let name, let levels):
            body.write(name, UInt8(levels.count))
            for level in levels { body.write(level) }
        case .ambiguousID(let places): body.write(longList: places)
        case .noField(let field, let item): body.write(field, item)
        case .fieldExists(let field), .notShowable(let field): body.write(field)
        case .changedMeanwhile(let name, let revision): body.write(name, revision)
        case .largeValue(let count, let revision, let digest):
            body.write(UInt32(count), revision)
            body.append(digest.span)
        case .noRevision(let revision, let item): body.write(revision, item)
        case .storage(let error): body.write(error)
        case .delayed(let seconds): body.write(Int64(seconds))
        case .staleLogin(let slot), .noSlot(let slot), .slotChanged(let slot): body.write(slot)
        case .noVault, .vaultExists, .cannotUnlock, .deviceKeyMissing, .otherDeviceKey, .unseenHere, .readOnlyHere, .rekeyed,
            .unchanged, .tooLarge, .tooMuchAtOnce, .mistypedRecoveryCode, .invalidItemName, .invalidFieldName, .outOfMemory,
            .unsupportedStretch, .lastSlot, .onlyLoginSlots, .tooManySlots, .policyOutOfBounds, .malformedKeyFile, .noLogHere,
            .emptyKey, .noPortableSlot, .vaultKnownHere, .tooManyPasswordSlots, .invalidTag, .invalidExpiry, .laterContent,
            .vaultSyncs:
            break
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let tag: UInt8 = try wire.read()
        switch tag {
        case 6: self = .corrupt(try wire.read())
        case 7: self = .rolledBack(try wire.read())
        case 10: self = .levelLocked(try wire.read())
        case 12: self = .noItem(try wire.read())
        case 13:
            let name: ItemName = try wire.read()
            let count: UInt8 = try wire.read()
            guard count <= ProtectionLevel.allCases.count else { throw MalformedBytes() }
            var levels: [ProtectionLevel] = []
            for _ in 0..<count { levels.append(try wire.read()) }
            self = .ambiguous(name, levels)
        case 14: self = .noField(try wire.read(), of: try wire.read())
        case 15: self = .itemExists(try wire.read())
        case 16: self = .fieldExists(try wire.read())
        case 17: self = .changedMeanwhile(try wire.read(), revision: try wire.read())
        case 25: self = .storage(try wire.read())
        case 26: self = .delayed(seconds: Int(try wire.read(Int64.self)))
        case 27: self = .staleLogin(try wire.read())
        case 28: self = .noSlot(try wire.read())
        case 32: self = .slotChanged(try wire.read())
        case 34: self = .noRevision(try wire.read(), of: try wire.read())
        case 40: self = .ambiguousID(try wire.longList())
        case 44: self = .notShowable(try wire.read())
        case 46:
            self = .largeValue(
                count: Int(try wire.read(UInt32.self)), revision: try wire.read(), digest: try wire.bytes(32))
        case 49: self = .changedMeaning(try wire.read())
        default:
            guard let error = VaultError.withoutValue.first(where: { $0.entry.tag == tag }) else { throw MalformedBytes() }
            self = error
        }
    }
}

extension StorageError: WireValue {
    package func write(to body: inout SecretBuffer) {
        switch self {
        case .missing: body.write(tag: 1)
        case .exists: body.write(tag: 2)
        // A path longer than the system allows would not fit its count.
        case .hazardous(let hazard, let path): body.write(tag: 3, hazard, path.utf8.count <= 4096 ? path : "")
        case .corrupt: body.write(tag: 4)
        case .laterFormat(let version): body.write(tag: 5, version)
        case .busy: body.write(tag: 6)
        case .io(let code): body.write(tag: 7, code)
        case .deviceKeyMissing: body.write(tag: 8)
        case .deviceKeyDamaged: body.write(tag: 9)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .missing
        case 2: self = .exists
        case 3: self = .hazardous(try wire.read(), path: try wire.read())
        case 4: self = .corrupt
        case 5: self = .laterFormat(try wire.read())
        case 6: self = .busy
        case 7: self = .io(try wire.read())
        case 8: self = .deviceKeyMissing
        case 9: self = .deviceKeyDamaged
        default: throw MalformedBytes()
        }
    }
}
