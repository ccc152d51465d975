/// What a profile says about its sessions.
public struct SessionLimits: Hashable, Sendable {
    /// Whether whoever keeps one may keep it across a restart of its own (`SessionActiveOnRestart`).
    public let survivesRestart: Bool
    /// Seconds without use, and in all; nil: no limit.
    public let idle: Int64?
    public let session: Int64?
    /// How many hundredths of ``idle`` before its end somebody should be told.
    public let warningPercentage: UInt8

    public init(survivesRestart: Bool = false, idle: Int64?, session: Int64?, warningPercentage: UInt8 = 10) {
        (self.survivesRestart, self.idle, self.session) = (survivesRestart, idle, session)
        self.warningPercentage = warningPercentage
    }
}
