// Times for people, in the zone of this machine: that of TZ, or else of /etc/localtime.

internal import Glibc
internal import OMShell

/// A time carries its own offset, because a zone has two of them in a year, and one name for different hours in different
/// countries. So a table from before and behind a change of the clocks is right, and its times can be compared.
enum LocalTime {
    /// Seconds since 1970 as `2026-11-21T19:33:00+01:00`, with `Z` in UTC.
    static func text(_ seconds: Int64) -> String {
        // RFC 3339 has no seconds in an offset. Only zones before 1972 have some.
        guard !isUTC, let parts = parts(seconds), parts.tm_gmtoff % 60 == 0 else { return Timestamp.text(seconds) }
        let minutes = Int32(clamping: abs(parts.tm_gmtoff) / 60)
        let sign = parts.tm_gmtoff < 0 ? "-" : "+"
        return Timestamp.text(parts) + sign + Timestamp.padded(minutes / 60) + ":" + Timestamp.padded(minutes % 60)
    }

    /// What a title calls the zone.
    static var zone: String { isUTC ? "UTC" : "local" }

    private static let isUTC: Bool = {
        // localtime_r need not look at TZ by itself.
        tzset()
        guard let parts = parts(0), parts.tm_gmtoff == 0, let name = parts.tm_zone else { return false }
        return String(cString: name) == "UTC"
    }()

    /// localtime_r and not localtime: another thread may ask for a time too.
    private static func parts(_ seconds: Int64) -> tm? {
        var time = time_t(seconds)
        var parts = tm()
        return localtime_r(&time, &parts) == nil ? nil : parts
    }
}
