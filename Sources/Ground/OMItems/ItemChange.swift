// A change of an item as one value. The door makes it, and the vault or the agent applies it.

/// What a new item has, or what a change of an item sets and removes. Everything that it does not name stays.
///
///     var change = ItemChange()
///     try change.set(FieldName("password"), to: secret)
///     change.shown = [try FieldName("username")]
public struct ItemChange: ~Copyable, Sendable {
    /// The fields to set. They replace fields of the same names, which stay shown or concealed.
    public var set: FieldValues
    public var removed: [FieldName]
    /// Fields that are shown from now on, and fields that are concealed again.
    public var shown: [FieldName] = []
    public var concealed: [FieldName] = []
    public var type: Update<ItemType> = .stays
    public var expires: Update<Int64> = .stays
    public var addedTags: [ItemTag] = []
    public var removedTags: [ItemTag] = []

    /// A new value for a part that an item may lack.
    public enum Update<Value: Hashable & Sendable>: Hashable, Sendable {
        case stays
        case becomes(Value)
        case removed
    }

    public init(set: consuming FieldValues = FieldValues(), removing removed: [FieldName] = []) {
        self.set = set
        self.removed = removed
    }

    /// The details after the change.
    package borrowing func applied(to details: ItemDetails) throws(VaultError) -> ItemDetails {
        var details = details
        details.type = type.applied(to: details.type)
        details.expires = expires.applied(to: details.expires)
        details.setTags(adding: addedTags, removing: removedTags)
        try details.check()
        return details
    }

    /// Whether a field is shown after the change.
    package borrowing func shows(_ name: FieldName, before: Bool) -> Bool {
        shown.contains(name) || before && !concealed.contains(name)
    }
}

extension ItemChange.Update {
    /// The part after the change.
    package func applied(to value: Value?) -> Value? {
        switch self {
        case .stays: value
        case .becomes(let new): new
        case .removed: nil
        }
    }
}
