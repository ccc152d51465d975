// A vault's errors as bytes, so that a refusal reads the same whether the agent or the command itself made it.
// Format: docs/agent-protocol.md, "Errors".

internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMVault

extension SecretBuffer {
    mutating func append(error: VaultError) {
        switch error {
        case .noVault: append(1)
        case .vaultExists: append(2)
        case .cannotUnlock: append(3)
        case .deviceKeyMissing: append(4)
        case .otherDeviceKey: append(5)
        case .corrupt(let part): append(6, part)
        case .rolledBack(let part): append(7, part)
        case .unseenHere: append(8)
        case .readOnlyHere: append(9)
        case .levelLocked(let level):
            append(10)
            append(level.code)
        case .rekeyed: append(11)
        case .noItem(let name):
            append(12)
            append(text: name.text)
        case .ambiguous(let name, let levels):
            append(13)
            append(text: name.text)
            append(UInt8(levels.count))
            for level in levels { append(level.code) }
        case .noField(let field, let item):
            append(14)
            append(text: field.text)
            append(text: item.text)
        case .itemExists(let name):
            append(15)
            append(text: name.text)
        case .fieldExists(let field):
            append(16)
            append(text: field.text)
        case .changedMeanwhile(let name, let revision):
            append(17)
            append(text: name.text)
            append(number: revision)
        case .unchanged: append(18)
        case .tooLarge: append(19)
        case .mistypedRecoveryCode: append(20)
        case .invalidItemName: append(21)
        case .invalidFieldName: append(22)
        case .outOfMemory: append(23)
        case .unsupportedStretch: append(24)
        case .emptyKey: append(37)
        case .noPortableSlot: append(38)
        case .storage(let error):
            append(25)
            append(storage: error)
        case .delayed(let seconds):
            append(26)
            append(number: Int64(seconds))
        case .staleLogin(let slot): append(27, slot)
        case .noSlot(let slot): append(28, slot)
        case .lastSlot: append(29)
        case .loginSlotAlone: append(30)
        case .tooManySlots: append(31)
        case .slotChanged(let slot): append(32, slot)
        case .policyOutOfBounds: append(33)
        case .noRevision(let revision, let item):
            append(34)
            append(number: revision)
            append(text: item.text)
        case .malformedKeyFile: append(35)
        case .noLogHere: append(36)
        case .livesHere: append(39)
        case .ambiguousID(let places):
            append(40)
            append(places: places)
        case .tooManyPasswordSlots: append(41)
        }
    }

    private mutating func append(_ tag: UInt8, _ part: VaultError.Part) {
        append(tag)
        append(text: part.rawValue)
    }

    private mutating func append(_ tag: UInt8, _ slot: UInt32) {
        append(tag)
        append(number: slot)
    }

    private mutating func append(storage error: StorageError) {
        switch error {
        case .missing: append(1)
        case .exists: append(2)
        case .hazardous(let hazard, let path):
            append(3)
            append(text: hazard.rawValue)
            // A path longer than any that the system takes would not fit its count.
            append(text: path.utf8.count <= 4096 ? path : "")
        case .corrupt: append(4)
        case .laterFormat(let version):
            append(5)
            append(number: version)
        case .busy: append(6)
        case .io(let code):
            append(7)
            append(number: code)
        case .deviceKeyMissing: append(8)
        case .deviceKeyDamaged: append(9)
        }
    }
}

extension ByteCursor {
    mutating func error(in bytes: Span<UInt8>) throws(MalformedBytes) -> VaultError {
        switch try byte(in: bytes) {
        case 1: return .noVault
        case 2: return .vaultExists
        case 3: return .cannotUnlock
        case 4: return .deviceKeyMissing
        case 5: return .otherDeviceKey
        case 6: return .corrupt(try part(in: bytes))
        case 7: return .rolledBack(try part(in: bytes))
        case 8: return .unseenHere
        case 9: return .readOnlyHere
        case 10: return .levelLocked(try level(in: bytes))
        case 11: return .rekeyed
        case 12: return .noItem(try itemName(in: bytes))
        case 13:
            let name = try itemName(in: bytes)
            let count = try byte(in: bytes)
            guard count <= ProtectionLevel.allCases.count else { throw MalformedBytes() }
            return .ambiguous(name, try (0..<count).map { _ throws(MalformedBytes) in try level(in: bytes) })
        case 14:
            let field = try fieldName(in: bytes)
            return .noField(field, of: try itemName(in: bytes))
        case 15: return .itemExists(try itemName(in: bytes))
        case 16: return .fieldExists(try fieldName(in: bytes))
        case 17:
            let name = try itemName(in: bytes)
            return .changedMeanwhile(name, revision: try number(in: bytes))
        case 18: return .unchanged
        case 19: return .tooLarge
        case 20: return .mistypedRecoveryCode
        case 21: return .invalidItemName
        case 22: return .invalidFieldName
        case 23: return .outOfMemory
        case 24: return .unsupportedStretch
        case 37: return .emptyKey
        case 38: return .noPortableSlot
        case 39: return .livesHere
        case 40: return .ambiguousID(try places(in: bytes))
        case 25: return .storage(try storage(in: bytes))
        case 26: return .delayed(seconds: Int(try number(Int64.self, in: bytes)))
        case 27: return .staleLogin(try number(in: bytes))
        case 28: return .noSlot(try number(in: bytes))
        case 29: return .lastSlot
        case 30: return .loginSlotAlone
        case 31: return .tooManySlots
        case 41: return .tooManyPasswordSlots
        case 32: return .slotChanged(try number(in: bytes))
        case 33: return .policyOutOfBounds
        case 34:
            let revision: UInt64 = try number(in: bytes)
            return .noRevision(revision, of: try itemName(in: bytes))
        case 35: return .malformedKeyFile
        case 36: return .noLogHere
        default: throw MalformedBytes()
        }
    }

    private mutating func part(in bytes: Span<UInt8>) throws(MalformedBytes) -> VaultError.Part {
        guard let part = VaultError.Part(rawValue: try text(in: bytes)) else { throw MalformedBytes() }
        return part
    }

    private mutating func storage(in bytes: Span<UInt8>) throws(MalformedBytes) -> StorageError {
        switch try byte(in: bytes) {
        case 1: return .missing
        case 2: return .exists
        case 3:
            guard let hazard = FileHazard(rawValue: try text(in: bytes)) else { throw MalformedBytes() }
            return .hazardous(hazard, path: try text(in: bytes))
        case 4: return .corrupt
        case 5: return .laterFormat(try number(in: bytes))
        case 6: return .busy
        case 7: return .io(try number(in: bytes))
        case 8: return .deviceKeyMissing
        case 9: return .deviceKeyDamaged
        default: throw MalformedBytes()
        }
    }
}
