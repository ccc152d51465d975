// Points in time and ids as text.

internal import Glibc
internal import OMSecrets

enum Timestamp {
    /// Seconds since 1970 as `2026-11-21T18:33:00Z`.
    static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date =
            "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1))-\(padded(Int(parts.tm_mday)))"
        return date + "T\(padded(Int(parts.tm_hour))):\(padded(Int(parts.tm_min))):\(padded(Int(parts.tm_sec)))Z"
    }
}

enum Identifier {
    /// 16 bytes in the form 8-4-4-4-12.
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array(Hex.encode(bytes))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(digits[$0.clamped(to: digits.indices)]) }.joined(separator: "-")
    }

    /// - Returns: nil for anything but 32 hex digits, with the dashes where ``text(_:)`` puts them or without any.
    static func bytes(_ text: String) -> [UInt8]? {
        guard let bytes = try? Hex.decode(text.replacing("-", with: "")), bytes.count == 16,
            !text.contains("-") || Self.text(bytes) == text.lowercased()
        else { return nil }
        return bytes
    }
}
