// Types, tags, expiries and fields in clear, as they are typed.

internal import ArgumentParser
internal import OMSecrets
internal import OMVault

/// The type of a new item.
struct ItemTypeArgument: ExpressibleByArgument {
    static let allValueStrings = ItemType.allCases.map(\.rawValue)

    let type: ItemType

    init?(argument: String) {
        guard let type = ItemType(rawValue: argument) else { return nil }
        self.type = type
    }
}

/// A type, or `none`.
struct TypeUpdateArgument: ExpressibleByArgument {
    static let allValueStrings = ItemTypeArgument.allValueStrings + ["none"]

    let update: ItemChange.Update<ItemType>

    init?(argument: String) {
        if argument == "none" {
            update = .removed
        } else if let type = ItemType(rawValue: argument) {
            update = .becomes(type)
        } else {
            return nil
        }
    }
}

/// A tag. It is checked when it is used, so that the error is omvault's own.
struct TagArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) { text = argument }

    func tag() throws(Failure) -> ItemTag {
        do throws(VaultError) { return try ItemTag(text) } catch { throw Failure(error, vault: nil) }
    }
}

/// A time from which on an item is out of date: a day, a moment in UTC, a number of days or weeks from now, or `never`.
struct ExpiryArgument: ExpressibleByArgument {
    let update: ItemChange.Update<Int64>

    /// Nil for `never`.
    var time: Int64? { update.applied(to: nil) }

    init?(argument: String) {
        if argument == "never" {
            update = .removed
        } else if let seconds = Timestamp.seconds(argument) ?? Self.fromNow(argument), seconds > 0 {
            update = .becomes(seconds)
        } else {
            return nil
        }
    }

    /// `90d` or `12w` as seconds since 1970.
    private static func fromNow(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["d": 86_400, "w": 7 * 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), (0...36_500).contains(count)
        else { return nil }
        return secondsNow() + count * unit
    }

    static let help = "such as 2027-01-31, 90d or 12w"
}

/// `NAME=TEXT`, a field that everyone may see.
struct PlainFieldArgument: ExpressibleByArgument {
    let name: String
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        (name, text) = (parts[0], parts[1])
    }

    func fieldName() throws(Failure) -> FieldName {
        do throws(VaultError) { return try FieldName(name) } catch { throw Failure(error, vault: nil) }
    }

    var value: SecretBytes { SecretBytes(copying: Array(text.utf8)) }
}
