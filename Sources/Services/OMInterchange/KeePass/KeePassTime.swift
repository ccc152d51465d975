// The times in KeePass's XML: `2012-09-25T16:36:27Z`, and in KDBX 4 a number of seconds in base64.

internal import OMSecrets

enum KeePassTime {
    /// From the first day of the year 1 to the first day of 1970.
    private static let epoch: Int64 = 62_135_596_800
    /// The years 1 to 9999, as KeePass has them.
    private static let range = -epoch...253_402_300_799

    /// Seconds since 1970. Nil for a text that is no time.
    static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        if bytes.count == 12 {
            guard let number = (try? Base64.decode(text)).flatMap({ Int64(littleEndian: $0) }) else { return nil }
            let (seconds, isTooEarly) = number.subtractingReportingOverflow(epoch)
            return isTooEarly || !range.contains(seconds) ? nil : seconds
        }
        return calendarSeconds(bytes).flatMap { range.contains($0) ? $0 : nil }
    }

    /// The same number in base64. A time before or behind KeePass's years is their first or last second.
    static func text(_ seconds: Int64) -> String {
        Base64.encode((min(max(seconds, range.lowerBound), range.upperBound) + epoch).littleEndianBytes)
    }

    /// `YYYY-MM-DDTHH:MM:SS`, maybe a fraction, then `Z` or an offset such as `+02:00`.
    private static func calendarSeconds(_ bytes: [UInt8]) -> Int64? {
        let pattern = Array("dddd-dd-ddTdd:dd:dd".utf8)
        func matches(_ pattern: [UInt8], at start: Int) -> Bool {
            guard bytes.count >= start + pattern.count else { return false }
            return pattern.indices.allSatisfy { index in
                let byte = bytes[start + index]
                return pattern[index] == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == pattern[index]
            }
        }
        func number(_ start: Int, _ count: Int) -> Int64 {
            bytes[start..<start + count].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        guard matches(pattern, at: 0) else { return nil }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
        guard (1...12).contains(month), hour < 24, minute < 60, second < 60 else { return nil }
        let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
        guard day >= 1, days(year, month, day) < next else { return nil }
        var end = pattern.count
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            end += 1
            while end < bytes.count, (0x30...0x39).contains(bytes[end]) { end += 1 }
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        if bytes.count == end + 1, bytes[end] == UInt8(ascii: "Z") { return seconds }
        guard bytes.count == end + 6, matches(Array("dd:dd".utf8), at: end + 1) else { return nil }
        let offset = number(end + 1, 2) * 3600 + number(end + 4, 2) * 60
        switch bytes[end] {
        case UInt8(ascii: "+"): return seconds - offset
        case UInt8(ascii: "-"): return seconds + offset
        default: return nil
        }
    }

    /// Days since 1970 in the Gregorian calendar. The year begins in March, so that the odd day is its last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1, monthOfShifted = (month + 9) % 12
        let leap = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leap + (monthOfShifted * 153 + 2) / 5 + day - 1 - 719_468
    }
}
