// The settings of a login that a server sent, after its document was read.

/// An application profile. It has the keys that a server may set, each with the text that a local profile would have.
public struct ServerProfile: Hashable, Sendable {
    /// The greatest epoch. Every JSON reader reads integers up to it alike.
    public static let lastEpoch: UInt64 = 9_007_199_254_740_991

    /// A later profile has a higher epoch. A lower epoch than one seen earlier is a rollback.
    public let epoch: UInt64
    /// `ApplicationName`, if given. It must be the local profile's name.
    public let application: String?
    /// The values by key, see ``keys``. The ledger checks what they mean and how far they may go.
    public let values: [String: String]

    /// The keys that a server may set. Its other keys have no effect.
    public static let keys = [
        "OfflineAuthAllowed", "MaxLoginAttempts", "CryptoScheme", "LocationUpdateEnabled",
        "LocationUpdateDistanceFilter",
    ]

    public init(epoch: UInt64, application: String? = nil, values: [String: String]) {
        (self.epoch, self.application, self.values) = (epoch, application, values)
    }

    /// Whether the profile is for the application of this name. A profile without a name is for every application.
    public func isFor(_ name: String) -> Bool { application ?? name == name }
}
