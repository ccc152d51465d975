// The content of sealed boxes, given unsealed. An attacker with the keys of an old copy, or with a hole in a seal, must not
// find another hole behind it. A value that is read must be written again as the same bytes.

import OMRecords
import OMSecrets

@testable import OMItems
@testable import OMVault

enum SealedTargets {
    static let all = [
        FuzzTarget(name: "vault-content", seeds: { VaultTemplate.seeds(of: "vault-content") }) { bytes in
            guard let content = try? ItemContent(opened: SecretBytes(copying: bytes), format: 2) else { return }
            do throws(VaultError) {
                let draft = try content.draft(isTrashed: content.isTrashed, at: content.modified)
                let again = bytesOf(try draft.finish(kept: content.kept) { _, _ throws(VaultError) in throw .tooLarge })
                precondition(again == bytes, "a content has two spellings")
            } catch {
                // Within its lengths, but more than an item may hold.
                precondition(error == .tooLarge, "a content that is read is none that can be written")
            }
        },
        // The first byte chooses the part.
        FuzzTarget(name: "vault-parts", seeds: { VaultTemplate.seeds(of: "vault-parts") }) { bytes in
            guard let first = bytes.first else { return }
            read(first % 9, Array(bytes.dropFirst()))
        },
    ]

    private static let vault = [UInt8](repeating: 1, count: 16)

    private static func read(_ part: UInt8, _ bytes: [UInt8]) {
        switch part {
        case 0:
            let scope = SlotScope(vault: vault, device: [UInt8](repeating: 2, count: 32), epoch: 1)
            guard let slot = try? KeySlot(decoding: bytes, in: scope) else { return }
            precondition(slot.encoded == bytes, "a slot has two spellings")
        case 1:
            guard let header = try? VaultHeader(decoding: bytes, slots: []) else { return }
            precondition(header.encoded == bytes, "a header has two spellings")
        case 2:
            var cursor = ByteCursor()
            guard let policy = try? VaultPolicy(decoding: &cursor, in: bytes.span) else { return }
            precondition(policy.encoded == Array(bytes.prefix(cursor.offset)), "a policy has two spellings")
        case 3:
            guard let kind = bytes.first, let event = try? AuditEvent(kind: kind, detail: Array(bytes.dropFirst()))
            else { return }
            precondition(event.kind == kind && event.detail == Array(bytes.dropFirst()), "an event has two spellings")
        case 4: entry(bytes)
        case 5: name(bytes)
        case 7:
            guard let chunk = try? ValueChunk(decoding: bytes) else { return }
            precondition(chunk.stored == bytes, "a chunk has two spellings")
        case 6:
            guard let file = try? VaultKeyFile(text: SecretBytes(copying: bytes)) else { return }
            let newline = bytes.last == 10 ? [] : [UInt8(10)]
            let again = bytesOf(file.text())
            precondition(again == bytes + newline, "a key file has two spellings")
        default:
            guard let code = try? RecoveryCode(typed: SecretBytes(copying: bytes)) else { return }
            let isRead = (try? RecoveryCode(typed: code.text())) != nil
            precondition(isRead, "a code is not read as it is shown")
        }
    }

    /// An entry of the log, with the MAC that it lacks.
    private static func entry(_ bytes: [UInt8]) {
        let key = Key<Authenticating>.random()
        let whole = bytes + MAC.tag(of: bytes, using: key, context: Context(.logMAC, .bytes(vault)))
        guard let entry = try? AuditEntry(decoding: whole, key, vault) else { return }
        precondition(entry.encoded == whole, "an entry has two spellings")
    }

    /// The name of an item that a backup says is lost, sealed here.
    private static func name(_ bytes: [UInt8]) {
        let key = Key<Sealing>.random()
        let place = [UInt8](repeating: 2, count: 16)
        let context = Context(
            .backupName, .bytes(vault), .number(UInt64(ProtectionLevel.highest.code)), .bytes(place))
        let box = AEAD.seal(SecretBytes(copying: bytes), using: key, context: context).bytes
        _ = try? BackupName(opening: box, .highest, place, key, vault: vault)
    }

    private static func bytesOf(_ secret: borrowing SecretBytes) -> [UInt8] {
        secret.withBytes { secret in secret.indices.map { secret[$0] } }
    }
}
