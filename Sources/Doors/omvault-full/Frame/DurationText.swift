enum DurationText {
    /// Seconds as `12h`, `10m` or `9m30s`.
    static func text(_ seconds: UInt32) -> String {
        let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")].filter { $0.0 > 0 }
        return parts.isEmpty ? "0s" : parts.map { "\($0.0)\($0.1)" }.joined()
    }
}
