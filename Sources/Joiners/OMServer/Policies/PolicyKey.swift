#if Server
// What an administrator may set in an application profile. docs/reference/profiles.md.

package enum PolicyKey: String, CaseIterable, Sendable {
    case offlineAuthAllowed = "OfflineAuthAllowed"
    case maxLoginAttempts = "MaxLoginAttempts"
    case cryptoScheme = "CryptoScheme"
    case locationUpdateEnabled = "LocationUpdateEnabled"
    case locationUpdateDistanceFilter = "LocationUpdateDistanceFilter"

    /// Whether a client would take this value.
    package func takes(_ value: String) -> Bool {
        switch self {
        case .offlineAuthAllowed: ["true", "false"].contains(value)
        case .locationUpdateEnabled: ["true", "false"].contains(value) || Self.isNumber(value, 0...1_000_000)
        case .maxLoginAttempts: Self.isNumber(value, 1...1000)
        case .locationUpdateDistanceFilter: Self.isNumber(value, 0...1_000_000)
        case .cryptoScheme:
            [
                "PlainText", "AES", "SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512", "SaltedMD5", "SaltedSHA-1",
                "SaltedSHA-224", "SaltedSHA-256", "SaltedSHA-384", "SaltedSHA-512",
            ].contains(value)
        }
    }

    private static func isNumber(_ text: String, _ range: ClosedRange<Int>) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int(text).map(range.contains) == true
    }

    /// Whether a text can be the name of an application: 1 to 128 letters, digits, ".", "-" and "_".
    package static func isApplication(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}
#endif
