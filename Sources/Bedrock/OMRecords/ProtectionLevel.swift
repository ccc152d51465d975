// The protection levels: when a secret can be read, and whether it can leave the device. SDK chapter 9.16.

/// A protection level: an availability, and whether the item is bound to this device.
public struct ProtectionLevel: Hashable, Sendable, CaseIterable {
    public enum Availability: UInt8, Hashable, Sendable, CaseIterable, Comparable {
        case always = 1
        case afterFirstUnlock = 2
        case whenUnlocked = 3

        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    public let availability: Availability
    public let isDeviceOnly: Bool

    public init(_ availability: Availability, deviceOnly: Bool = false) {
        (self.availability, isDeviceOnly) = (availability, deviceOnly)
    }

    public static let whenUnlocked = ProtectionLevel(.whenUnlocked)

    /// The default of the library and of profiles, as in the SDK.
    public static let highest = ProtectionLevel(.whenUnlocked, deviceOnly: true)

    public static let allCases = Availability.allCases.flatMap { availability in
        [false, true].map { ProtectionLevel(availability, deviceOnly: $0) }
    }

    /// The byte on disk: the availability, plus 16 if the item is bound to this device.
    package var code: UInt8 { availability.rawValue | (isDeviceOnly ? 0x10 : 0) }

    /// - Returns: nil for a byte that is no level. An unknown byte never means a weaker level.
    package init?(code: UInt8) {
        guard let availability = Availability(rawValue: code & 0x0f), code & 0xe0 == 0 else { return nil }
        self.init(availability, deviceOnly: code & 0x10 != 0)
    }

    /// omvault's name, such as `after-first-unlock`. The device-only axis has its own flag.
    public var name: String {
        switch availability {
        case .always: "always"
        case .afterFirstUnlock: "after-first-unlock"
        case .whenUnlocked: "when-unlocked"
        }
    }

    /// Reads omvault's names and the SDK's six strings. Case does not matter in the SDK's strings, as in the SDK.
    ///
    /// - Returns: nil for anything else.
    public init?(named text: String) {
        if let level = Self.allCases.first(where: { !$0.isDeviceOnly && $0.name == text }) {
            self = level
            return
        }
        let folded = text.lowercased()
        guard let level = Self.allCases.first(where: { $0.sdkName.lowercased() == folded }) else { return nil }
        self = level
    }

    /// The SDK's string, such as `KeychainDataAccessibleWhenUnlockedThisDeviceOnly`.
    public var sdkName: String {
        let when =
            switch availability {
            case .always: "Always"
            case .afterFirstUnlock: "AfterFirstUnlock"
            case .whenUnlocked: "WhenUnlocked"
            }
        return "KeychainDataAccessible\(when)\(isDeviceOnly ? "ThisDeviceOnly" : "")"
    }
}
