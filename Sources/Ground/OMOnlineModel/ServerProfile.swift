// What a server may say about a login, after its document was read.

/// An application profile: those of its keys that a server may set, each as the text that a local profile would have.
public struct ServerProfile: Hashable, Sendable {
    /// The greatest epoch: the integers that every JSON reader reads alike.
    public static let lastEpoch: UInt64 = 9_007_199_254_740_991

    /// A later profile has a higher one; a lower one than was seen is a rollback.
    public let epoch: UInt64
    /// `ApplicationName`, if it is given: it must be the local profile's.
    public let application: String?
    /// By key, in the order of ``keys``. What they mean, and how far they may go, is the ledger's to judge.
    public let values: [String: String]

    /// The keys that a server may set; it says nothing with any other.
    public static let keys = [
        "OfflineAuthAllowed", "MaxLoginAttempts", "CryptoScheme", "LocationUpdateEnabled",
        "LocationUpdateDistanceFilter",
    ]

    public init(epoch: UInt64, application: String? = nil, values: [String: String]) {
        (self.epoch, self.application, self.values) = (epoch, application, values)
    }

    /// Whether it is for the application of this name: one that names none is for all.
    public func isFor(_ name: String) -> Bool { application ?? name == name }
}
