/// A profile's settings for its sessions.
public struct SessionLimits: Hashable, Sendable {
    /// Whether the keeper of a session may keep it across a restart of its own (`SessionActiveOnRestart`).
    public let survivesRestart: Bool
    /// Seconds without use, and in all. Nil means no limit.
    public let idle: Int64?
    public let session: Int64?
    /// How early the warning comes, in percent of ``idle`` before its end.
    public let warningPercentage: UInt8

    public init(survivesRestart: Bool = false, idle: Int64?, session: Int64?, warningPercentage: UInt8 = 10) {
        (self.survivesRestart, self.idle, self.session) = (survivesRestart, idle, session)
        self.warningPercentage = warningPercentage
    }
}
