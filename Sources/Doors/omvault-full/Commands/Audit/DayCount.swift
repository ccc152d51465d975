internal import ArgumentParser

/// A number of days on the command line: `30`, `30d` or `12w`.
struct DayCount: ExpressibleByArgument {
    let seconds: Int64

    init(days: Int64) { seconds = days * 86_400 }

    init?(argument: String) {
        let days: Int64 = argument.hasSuffix("w") ? 7 : 1
        let digits = argument.hasSuffix("w") || argument.hasSuffix("d") ? argument.dropLast() : argument[...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(digits), (0...36_500).contains(count)
        else {
            return nil
        }
        self.init(days: count * days)
    }
}
