// Names and details of the audit log's events, for people and for scripts.

internal import OMShell
internal import OMVault

extension AuditEvent {
    /// One word for scripts.
    var name: String {
        switch self {
        case .vaultCreated: "vault_created"
        case .vaultRestored: "vault_restored"
        case .backupTaken: "backup_taken"
        case .itemAdded: "item_added"
        case .itemChanged: "item_changed"
        case .itemTrashed: "item_trashed"
        case .itemRestored: "item_restored"
        case .itemPurged: "item_purged"
        case .levelChanged: "level_changed"
        case .manyItems: "many_items"
        case .unlocked: "unlocked"
        case .wrongSecret: "wrong_secret"
        case .rollbackAccepted: "rollback_accepted"
        case .repeated(let run): run.isUnlock ? "unlocked" : "wrong_secret"
        case .slotAdded: "slot_added"
        case .slotChanged: "slot_changed"
        case .slotRemoved: "slot_removed"
        case .policyChanged: "policy_changed"
        case .rekeyed: "rekeyed"
        case .strayRows: "stray_rows"
        case .fileReplaced: "file_replaced"
        }
    }

    /// The details, as members of a JSON object.
    var details: KeyValuePairs<String, JSONValue> {
        switch self {
        case .vaultCreated, .rollbackAccepted, .policyChanged, .fileReplaced: [:]
        case .vaultRestored(let time): ["backup_of": .time(time)]
        case .backupTaken(let isPortable): ["portable": .flag(isPortable)]
        case .itemAdded(let item), .itemChanged(let item), .itemTrashed(let item), .itemRestored(let item),
            .itemPurged(let item):
            ["id": .text(Identifier.text(item.id)), "level": .text(item.level.words), "revision": item.number]
        case .levelChanged(let item, let former):
            [
                "id": .text(Identifier.text(item.id)), "level": .text(item.level.words), "revision": item.number,
                "former_level": .text(former.words),
            ]
        case .manyItems(let added, let changed, let purged):
            ["added": .number(Int(added)), "changed": .number(Int(changed)), "purged": .number(Int(purged))]
        case .unlocked(let slot), .wrongSecret(let slot): ["slot": .number(Int(slot))]
        case .repeated(let run):
            [
                "slot": .number(Int(run.slot)), "count": .number(Int(run.count)),
                "first": .time(run.first),
            ]
        case .slotAdded(let id, let kind), .slotChanged(let id, let kind), .slotRemoved(let id, let kind):
            ["slot": .number(Int(id)), "kind": .text(kind.noun)]
        case .rekeyed(let epoch): ["epoch": .number(Int(epoch))]
        case .strayRows(let first): ["first": .number(Int(clamping: first))]
        }
    }

    /// The details on one line.
    func words(_ output: Output) -> String {
        details.map { name, value in
            switch value {
            case .text(let text): "\(name)=\(text.asWord)"
            case .time(let seconds): "\(name)=\(output.time(seconds))"
            case .number(let number): "\(name)=\(number)"
            case .decimal(let number): "\(name)=\(number)"
            case .flag(let flag): "\(name)=\(flag)"
            case .list, .null: name
            }
        }.joined(separator: " ")
    }
}

extension AuditEvent.ItemVersionID {
    fileprivate var number: JSONValue { .number(Int(clamping: revision)) }
}
