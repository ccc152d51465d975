// A question of sync in words, and as a document. No value is in it.

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMShell
internal import OMSync

struct ShownQuestion {
    enum Kind: String { case copy, name, held, change, entry }

    let question: OpenQuestion
    private let devices: [UInt32: DeviceName]

    init(_ question: OpenQuestion, _ devices: [UInt32: DeviceName]) { (self.question, self.devices) = (question, devices) }

    var kind: Kind {
        switch question.subject {
        case .copy: .copy
        case .meaning: .name
        case .held: .held
        case .braked: .change
        case .entry: .entry
        }
    }

    var isChange: Bool { kind == .change }

    var item: String {
        switch question.subject {
        case .copy(let copy): copy.item?.name.text ?? ""
        case .meaning(let meaning): meaning.name.text
        case .held(let change), .braked(let change): change.name?.text ?? ""
        case .entry: ""
        }
    }

    var what: String {
        switch question.subject {
        case .copy(let copy):
            "copy \"\(copy.copy.name.text)\": " + (copy.item == nil ? "the item was purged" : Self.words(copy.differences))
        case .meaning(let meaning):
            switch meaning.before {
            case .isNow(let name): "another item; the one before is \"\(name.text)\" now"
            case .isTrashed: "another item; the one before is in the trash"
            case .isPurged: "another item; the one before was purged"
            }
        case .held(let change): "\(Self.words(change)), at level \(Self.level(change.level))"
        case .braked(let change): Self.words(change)
        case .entry(let choice): words(choice)
        }
    }

    /// The device that wrote or signed it. The copy's of a conflict copy.
    var device: String {
        switch question.subject {
        case .copy(let copy): name(copy.copy.device)
        case .meaning: ""
        case .held(let change), .braked(let change):
            change.signers.map(name).joined(separator: ", ") + (change.isOfRemoved ? " (removed)" : "")
        case .entry(let choice): name(choice.entry.contents.signer)
        }
    }

    private func name(_ device: UInt32) -> String { devices[device]?.text ?? SyncStatus.digits(device) }

    private static func level(_ level: ProtectionLevel.Availability) -> String {
        ProtectionLevel(level, deviceOnly: false).name
    }

    private static func words(_ change: ArrivedChange) -> String {
        switch change.effect {
        case .adds: "adds it"
        case .removes: "removes it"
        case .revives: "brings it back"
        case .changes: "changes it: \(words(change.parts))"
        }
    }

    private static func words(_ parts: [VersionPart]) -> String {
        parts.isEmpty ? "nothing differs" : parts.map(word).joined(separator: ", ") + (parts.count == 1 ? " differs" : " differ")
    }

    private static func word(_ part: VersionPart) -> String {
        switch part {
        case .name: "name"
        case .state: "state"
        case .type: "type"
        case .tags: "tags"
        case .expiry: "expiry"
        case .field(let field): "field \(field.text)"
        }
    }

    private func words(_ choice: EntryChoice) -> String {
        let said = choice.entry.contents
        let added = zip(said.added, choice.added).map { member, name in name?.text ?? SyncStatus.digits(member.number) }
        let words = [
            added.isEmpty ? nil : "adds \(added.joined(separator: ", "))",
            said.removed.isEmpty ? nil : "removes \(said.removed.map(name).joined(separator: ", "))",
        ].compactMap(\.self)
        return "entry \(said.number) of the list of devices: \(words.joined(separator: ", "))"
    }

    // MARK: - Document

    func write(to entry: inout JSONDocument) {
        entry.field("number", .text(question.number))
        entry.field("kind", .text(kind.rawValue))
        entry.field("item", item.isEmpty ? .null : .text(item))
        switch question.subject {
        case .copy(let copy):
            entry.field("copy", .text(copy.copy.name.text))
            entry.field("differs", Self.list(copy.differences))
            entry.field("time", .time(copy.copy.time))
            entry.field("device", .text(name(copy.copy.device)))
        case .meaning(let meaning):
            entry.field("time", .time(meaning.time))
            entry.field("before", Self.before(meaning))
        case .held(let change), .braked(let change):
            entry.field("effect", .text(Self.effect(change)))
            entry.field("differs", Self.list(change.parts))
            entry.field("level", .text(Self.level(change.level)))
            entry.field("level_here", change.levelHere.map { .text(Self.level($0)) } ?? .null)
            entry.field("devices", .list(change.signers.map { .text(name($0)) }))
            entry.field("removed", .flag(change.isOfRemoved))
        case .entry(let choice):
            let said = choice.entry.contents
            let added = zip(said.added, choice.added).map { member, name in name?.text ?? SyncStatus.digits(member.number) }
            entry.field("entry", .number(Int(said.number)))
            entry.field("adds", .list(added.map { .text($0) }))
            entry.field("removes", .list(said.removed.map { .text(name($0)) }))
            entry.field("time", .time(said.time))
            entry.field("device", .text(name(said.signer)))
        }
    }

    private static func list(_ parts: [VersionPart]) -> JSONValue { .list(parts.map { .text(word($0)) }) }

    /// The name that the item before has now; "trash" or "purged" have no name.
    private static func before(_ meaning: NameChange) -> JSONValue {
        guard case .isNow(let name) = meaning.before else { return .null }
        return .text(name.text)
    }

    private static func effect(_ change: ArrivedChange) -> String {
        switch change.effect {
        case .adds: "adds"
        case .removes: "removes"
        case .revives: "revives"
        case .changes: "changes"
        }
    }
}
