// What sync leaves to the user. Format: docs/formats/sync.md, "Questions".

package import OMItems
package import OMParcels
package import OMRecords
internal import OMSecrets

/// A question that sync leaves to the user: `sync diff` shows it, and `sync resolve` settles it.
package struct OpenQuestion: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A live conflict copy.
        case copy(ConflictCopy)
        /// A name that means another item than before.
        case meaning(NameChange)
        /// A version that has no power over the item here.
        case held(ArrivedChange)
        /// A change that the brake holds.
        case braked(ArrivedChange)
        /// An entry of the roll, which excludes another one of the same number.
        case entry(EntryChoice)
    }

    /// 16 hex digits. They name the question with all that the user sees of it: another version gives another number.
    package let number: String
    package let subject: Kind

    /// - Parameter seen: All that decides what an answer does.
    init(_ subject: Kind, seen: [[UInt8]]) {
        self.subject = subject
        number = Self.number(seen)
    }

    private static func number(_ parts: [[UInt8]]) -> String {
        var bytes: [UInt8] = []
        for part in parts {
            bytes.append(number: UInt32(part.count))
            bytes += part
        }
        return Hex.encode(Array(PublicHash.hash(bytes).prefix(8)))
    }

    /// One number for several questions.
    package static func number(ofAll questions: [OpenQuestion]) -> String {
        number(questions.map(\.number).sorted().map { Array($0.utf8) })
    }

    /// The names by which the user may mean the question.
    package var names: [ItemName] {
        switch subject {
        case .copy(let copy): [copy.item?.name, copy.copy.name].compactMap(\.self)
        case .meaning(let meaning): [meaning.name]
        case .held(let change), .braked(let change): [change.name].compactMap(\.self)
        case .entry: []
        }
    }
}

/// What differs between two versions. No value is in it.
package enum VersionPart: Hashable, Sendable {
    case name, state, type, tags, expiry
    case field(FieldName)

    static func all(_ one: SyncedVersion, _ other: SyncedVersion) -> [VersionPart] {
        var parts: [VersionPart] = []
        if one.name?.withoutConflictPrefix != other.name?.withoutConflictPrefix { parts.append(.name) }
        if one.state != other.state { parts.append(.state) }
        if one.details.type != other.details.type { parts.append(.type) }
        if one.details.tags != other.details.tags { parts.append(.tags) }
        if one.details.expires != other.details.expires { parts.append(.expiry) }
        let names = Set(one.fields.keys).union(other.fields.keys).sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        return parts + names.filter { one.fields[$0] != other.fields[$0] }.map(VersionPart.field)
    }
}

/// A live conflict copy, and its item.
package struct ConflictCopy: Hashable, Sendable {
    package struct Version: Hashable, Sendable {
        /// 16 bytes.
        let id: [UInt8]
        package let name: ItemName
        package let level: ProtectionLevel.Availability
        package let isTrashed: Bool
        /// When its version was written, in seconds since 1970.
        package let time: Int64
        /// The device that wrote it.
        package let device: UInt32
    }

    /// Nil if the item was purged.
    package let item: Version?
    package let copy: Version
    package let differences: [VersionPart]
}

/// A name that means another item than before.
package struct NameChange: Hashable, Sendable {
    /// The id of the item that has the name now: 16 bytes.
    let id: [UInt8]
    package let name: ItemName
    /// When the merge was, in seconds since 1970.
    package let time: Int64
    package enum State: Hashable, Sendable {
        /// The item that had the name is called so now.
        case isNow(ItemName)
        case isTrashed
        case isPurged
    }
    package let before: State
}

/// An entry of the roll that excludes another one.
package struct EntryChoice: Hashable, Sendable {
    package let entry: RollEntry
    /// The names of the devices that it adds. Nil for a name that cannot be read.
    package let added: [DeviceName?]
}

/// The open questions of a vault.
package struct QuestionList: Sendable {
    package let questions: [OpenQuestion]
    /// The names of the devices, also of removed ones.
    package let devices: [UInt32: DeviceName]
    /// The devices for whose edits versions wait, and the time of the oldest such version, in seconds since 1970.
    package let awaited: [UInt32: Int64]

    /// The number of live conflict copies.
    package var copies: Int { questions.count { if case .copy = $0.subject { true } else { false } } }
    /// The number of names that mean another item than before.
    package var meanings: Int { questions.count { if case .meaning = $0.subject { true } else { false } } }
}

/// A version that arrived and waits for the user.
package struct ArrivedChange: Hashable, Sendable {
    package enum Effect: Hashable, Sendable { case adds, removes, revives, changes }

    /// The id of the item: 16 bytes.
    let id: [UInt8]
    /// That of the item here, else that of the version. Nil for a tombstone of an item that is not here.
    package let name: ItemName?
    package let effect: Effect
    package let parts: [VersionPart]
    /// Nil if the item is not here.
    package let levelHere: ProtectionLevel.Availability?
    package let level: ProtectionLevel.Availability
    /// The devices that list the version.
    package let signers: [UInt32]
    /// Whether none of them is a member any more.
    package let isOfRemoved: Bool
    let keys: [ArrivedParcel.Key]
}
