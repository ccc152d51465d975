internal import OMItems
internal import OMShell
internal import OMVault

/// One difference between two versions of an item, or a concealed field that is the same in both. No concealed value is in it.
struct HistoryDifference {
    enum Change: String { case added, removed, changed, same }

    /// What may differ. `state` is live or trash, and `shown` is whether a field is shown or concealed.
    enum Part: String { case name, state, type, tag, expires, field, shown }

    enum Value: Equatable {
        case text(String)
        /// Seconds since 1970.
        case time(Int64)
        /// A concealed value.
        ///
        /// - Parameter count: The number of its bytes.
        case concealed(count: Int)

        /// Nil for a concealed value.
        fileprivate var shown: JSONValue? {
            switch self {
            case .text(let text): JSONValue.text(text)
            case .time(let seconds): JSONValue.time(seconds)
            case .concealed: nil
            }
        }

        fileprivate var concealedCount: Int? { if case .concealed(let count) = self { count } else { nil } }
    }

    let change: Change
    let part: Part
    /// Nil for what is no field.
    let field: FieldName?
    /// Nil if the earlier version does not have it.
    let before: Value?
    /// Nil if the later version does not have it.
    let after: Value?

    private init?(_ part: Part, _ field: FieldName? = nil, before: Value?, after: Value?, isChanged: Bool? = nil) {
        let isChanged = isChanged ?? (before != after)
        switch (before, after) {
        case (nil, nil): return nil
        case (nil, _): change = .added
        case (_, nil): change = .removed
        case (.concealed, .concealed) where !isChanged: change = .same
        default:
            guard isChanged else { return nil }
            change = .changed
        }
        (self.part, self.field, self.before, self.after) = (part, field, before, after)
    }

    /// Every difference, and every concealed field that is the same.
    ///
    /// - Parameter changed: The fields of both versions that have different values.
    static func all(from old: Item, to new: Item, changed: [FieldName]) -> [HistoryDifference] {
        details(from: old, to: new) + fields(from: old, to: new, changed: changed)
    }

    private static func details(from old: Item, to new: Item) -> [HistoryDifference] {
        let (before, after) = (old.details, new.details)
        let tags = (before.tags + after.tags.filter { !before.tags.contains($0) }).sorted()
        func value(_ tag: ItemTag, in tags: [ItemTag]) -> Value? { tags.contains(tag) ? .text(tag.text) : nil }
        return [
            HistoryDifference(.name, before: .text(old.name.text), after: .text(new.name.text)),
            HistoryDifference(.state, before: state(old), after: state(new)),
            HistoryDifference(
                .type, before: (before.type?.rawValue).map(Value.text), after: (after.type?.rawValue).map(Value.text)),
            HistoryDifference(.expires, before: before.expires.map(Value.time), after: after.expires.map(Value.time)),
        ].compactMap(\.self)
            + tags.compactMap {
                HistoryDifference(.tag, before: value($0, in: before.tags), after: value($0, in: after.tags))
            }
    }

    private static func state(_ item: Item) -> Value { .text(item.isTrashed ? "trash" : "live") }

    /// The fields in the order of the later version, then those that it does not have.
    private static func fields(from old: Item, to new: Item, changed: [FieldName]) -> [HistoryDifference] {
        let names = new.fields.map(\.name)
        var differences: [HistoryDifference?] = []
        for field in new.fields {
            let earlier = old.fields.first { $0.name == field.name }
            differences.append(
                HistoryDifference(
                    .field, field.name, before: earlier.map(value), after: value(of: field),
                    isChanged: changed.contains(field.name)))
            guard let earlier else { continue }
            differences.append(HistoryDifference(.shown, field.name, before: shown(earlier), after: shown(field)))
        }
        for field in old.fields where !names.contains(field.name) {
            differences.append(HistoryDifference(.field, field.name, before: value(of: field), after: nil))
        }
        return differences.compactMap(\.self)
    }

    private static func shown(_ field: Item.Field) -> Value { .text(field.shownValue == nil ? "concealed" : "shown") }

    private static func value(of field: Item.Field) -> Value {
        field.shownValue.map(Value.text) ?? .concealed(count: field.count)
    }
}

extension Output {
    /// Lists what differs between two versions of an item.
    func list(_ differences: [HistoryDifference], of name: ItemName, _ old: UInt64, _ new: UInt64) throws(Failure) {
        try list(
            "changes", differences, columns: ["CHANGE", "PART", "FIELD", "BEFORE", "AFTER"],
            head: ["item": .text(name.text), "old": .number(Int(clamping: old)), "new": .number(Int(clamping: new))],
            row: { one in
                [one.change.rawValue, one.part.rawValue, one.field?.text ?? "", cell(one.before), cell(one.after)]
            },
            object: { one, entry in
                entry.field("change", .text(one.change.rawValue))
                entry.field("part", .text(one.part.rawValue))
                if let field = one.field { entry.field("field", .text(field.text)) }
                if let before = one.before?.shown { entry.field("before", before) }
                if let count = one.before?.concealedCount { entry.concealed("before", count: count) }
                if let after = one.after?.shown { entry.field("after", after) }
                if let count = one.after?.concealedCount { entry.concealed("after", count: count) }
            })
        if !differences.contains(where: { $0.change != .same }) {
            notice("nothing differs between revisions \(old) and \(new) of \"\(name.text)\"")
        }
    }

    private func cell(_ value: HistoryDifference.Value?) -> String {
        switch value {
        case .text(let text): text
        case .time(let seconds): time(seconds)
        case .concealed: "(concealed)"
        case nil: ""
        }
    }
}
