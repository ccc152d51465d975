// What `omvault audit` finds. No finding has a password or its hash.

internal import OMItems
internal import OMShell

/// Something about an item that its owner should change.
struct AuditFinding {
    /// The raw value is the word in `--fail-on` and in rows.
    enum Kind: String, CaseIterable {
        case weak, reused, old, expiring, breached

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
        /// The word for all kinds that are looked for.
        static let any = "any"
    }

    enum Fact {
        case weak(bits: Int)
        /// - Parameters:
        ///   - others: The first of the other items with the same password.
        ///   - count: The number of all items with this password.
        case reused(others: [ItemName], count: Int)
        /// The password is the same since this time, in seconds since 1970.
        case old(since: Int64)
        case expiring(at: Int64, isPast: Bool)
        /// - Parameter count: How often the list has seen the password. Nil if the list does not say.
        case breached(count: Int?)
    }

    /// A group of a thousand items must not print a million names.
    static let mostOthers = 10

    let item: ItemName
    /// Nil for a finding about the item as a whole.
    let field: FieldName?
    let fact: Fact

    var kind: Kind {
        switch fact {
        case .weak: .weak
        case .reused: .reused
        case .old: .old
        case .expiring: .expiring
        case .breached: .breached
        }
    }

    /// The detail for people.
    ///
    /// - Parameter time: Writes a point in time.
    func words(_ time: (Int64) -> String) -> String {
        switch fact {
        case .weak(let bits): "about \(bits.of("bit"))"
        case .reused(let others, let count):
            "also in " + others.map(\.text).joined(separator: ", ")
                + (count - 1 > others.count ? " and \((count - 1 - others.count).of("more item"))" : "")
        case .old(let since): "the same since \(time(since))"
        case .expiring(let end, let isPast): "\(isPast ? "expired" : "expires") \(time(end))"
        case .breached(let count): "in the list" + (count.map { ", seen \($0.of("time"))" } ?? "")
        }
    }

    func write(to entry: inout JSONDocument) {
        entry.field("item", .text(item.text))
        entry.field("field", field.map { .text($0.text) } ?? .null)
        entry.field("finding", .text(kind.rawValue))
        switch fact {
        case .weak(let bits): entry.field("bits", .number(bits))
        case .reused(let others, let count):
            entry.field("others", .list(others.map { .text($0.text) }))
            entry.field("items", .number(count))
        case .old(let since): entry.field("since", .time(since))
        case .expiring(let end, let isPast):
            entry.field("expires", .time(end))
            entry.field("expired", .flag(isPast))
        case .breached(let count): entry.field("seen", count.map { .number($0) } ?? .null)
        }
    }
}
