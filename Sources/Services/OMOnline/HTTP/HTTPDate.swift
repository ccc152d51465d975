// Times as HTTP writes them, in its three spellings and that of old cookies.

/// Seconds since 1970 from a date's text.
enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Reads a date by RFC 6265, 5.1.1: the pieces come in any order. Nil if one is missing or impossible.
    static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        var clock: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for piece in text.split(whereSeparator: { " ,-\t;".contains($0) }) {
            let name = piece.prefix(3).lowercased()
            if clock == nil, let found = time(piece) { clock = found; continue }
            let number = piece.allSatisfy({ $0.isASCII && $0.isNumber }) ? Int(piece) : nil
            if day == nil, piece.count <= 2, let number { day = number; continue }
            if month == nil, number == nil, let found = months.firstIndex(of: name) { month = found + 1; continue }
            if year == nil, let number, piece.count == 2 || piece.count == 4 {
                year = piece.count == 4 ? number : number + (number < 70 ? 2000 : 1900)
            }
        }
        guard let (hour, minute, second) = clock, let day, let month, let year else { return nil }
        guard (1970...9999).contains(year), (1...days(in: month, of: year)).contains(day) else { return nil }
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        return Int64(daysSinceEpoch(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    private static func time(_ piece: Substring) -> (Int, Int, Int)? {
        let parts = piece.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let numbers = parts.compactMap { part in
            (1...2).contains(part.count) && part.allSatisfy({ $0.isASCII && $0.isNumber }) ? Int(part) : nil
        }
        return numbers.count == 3 ? (numbers[0], numbers[1], numbers[2]) : nil
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Converts a civil date to days. The years are counted from March.
    private static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// `Retry-After` in seconds from now. It is a number, or a date that is compared with the answer's own `Date`. The
    /// result is at most a day, so that no server blocks itself for years. Nil if the field says nothing.
    static func retryAfter(_ text: String, date: Int64?, now: Int64) -> UInt32? {
        let trimmed = text.drop { $0 == " " }
        let wait: Int64
        if !trimmed.isEmpty, trimmed.allSatisfy({ $0.isASCII && $0.isNumber }) {
            wait = Int64(trimmed) ?? .max
        } else {
            guard let at = seconds(text) else { return nil }
            wait = at - (date ?? now)
        }
        return UInt32(min(max(wait, 0), 86_400))
    }
}
