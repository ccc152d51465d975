// Counts and points in time as text.

package import Glibc
internal import OMSecrets

extension Int {
    /// `1 item`, `2 items`.
    package func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

package enum Timestamp {
    /// Seconds since 1970 as `2026-11-21T18:33:00Z`.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        return text(parts) + "Z"
    }

    /// The same in RFC 3339, without the zone.
    package static func text(_ parts: tm) -> String {
        let date = "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
        return date + "T\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
    }

    /// A number with zeros in front, to this many digits.
    package static func padded(_ number: Int32, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Seconds since 1970 of `2026-11-21`, `2026-11-21T18:33:00Z` or `2026-11-21T19:33:00+01:00`.
    ///
    /// - Returns: Nil for any other text, and for a day or time that does not exist.
    package static func seconds(_ text: String) -> Int64? {
        if let offset = text.wholeMatch(of: /(.{19})([+-])([01]\d|2[0-3]):([0-5]\d)/) {
            guard let local = seconds("\(offset.1)Z"), let hours = Int64(offset.3), let minutes = Int64(offset.4) else {
                return nil
            }
            return local - (offset.2 == "+" ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
        let bytes = Array(text.utf8)
        guard bytes.count == 10 || bytes.count == 20 else { return nil }
        let pattern = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
        for (byte, wanted) in zip(bytes, pattern) {
            guard wanted == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == wanted else { return nil }
        }
        func number(_ range: Range<Int>) -> Int32 {
            guard range.upperBound <= bytes.count else { return 0 }
            return bytes[range].reduce(0) { $0 * 10 + Int32($1 - 0x30) }
        }
        var parts = tm()
        parts.tm_year = number(0..<4) - 1900
        (parts.tm_mon, parts.tm_mday) = (number(5..<7) - 1, number(8..<10))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(11..<13), number(14..<16), number(17..<19))
        let seconds = Int64(timegm(&parts))
        // timegm(3) turns 30 February into 1 March, and 25 o'clock into the next day.
        let again = Self.text(seconds)
        return again == text || again == text + "T00:00:00Z" ? seconds : nil
    }
}
