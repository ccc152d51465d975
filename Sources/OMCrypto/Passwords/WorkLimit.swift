/// How much work a stored string or a file may ask for: a hostile one would otherwise keep the machine busy for days.
///
/// One number scales all of it, so that nobody has to know the parameters of every function to raise it.
public struct WorkLimit: Hashable, Sendable {
    /// How many times ``standard``'s work.
    public let factor: Int

    /// 1 GiB of memory, filled up to 4 times (Argon2, scrypt), 10,000,000 iterations (PBKDF2), cost 16 (bcrypt): each
    /// some seconds.
    public static let standard = WorkLimit(factor: 1)

    /// - Parameter factor: 1 to 2^20; other numbers count as the nearest of these.
    public init(factor: Int) { self.factor = min(max(factor, 1), 1 << 20) }

    /// - Throws: ``CryptoError/workTooHigh``.
    public func check(_ function: PasswordFunction) throws(CryptoError) {
        let isWithin: Bool
        switch function {
        case .argon2(_, let parameters):
            isWithin = isWithinMemory(parameters.memoryKiB, passes: parameters.passes)
        case .scrypt(let logCost, let blockSize, let parallelism):
            // 128 · r · N bytes, filled once for each of the p and read once more.
            guard logCost < 40, blockSize <= 1 << 20 else { throw .workTooHigh }
            isWithin = isWithinMemory((blockSize << logCost) / 8, passes: parallelism)
        case .pbkdf2(_, let iterations): isWithin = iterations <= 10_000_000 * factor
        case .bcrypt(let cost): isWithin = cost <= 16 + (Int.bitWidth - 1 - factor.leadingZeroBitCount)
        }
        guard isWithin else { throw .workTooHigh }
    }

    private func isWithinMemory(_ kibibytes: Int, passes: Int) -> Bool {
        let (work, overflow) = kibibytes.multipliedReportingOverflow(by: passes)
        return !overflow && kibibytes <= (1 << 20) * factor && work <= (4 << 20) * factor
    }
}
