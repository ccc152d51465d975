internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

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
