internal import OMSecrets

/// How much work a stored string or a file may ask for. A hostile string would otherwise keep the machine busy for days.
///
/// One number scales all limits, so a user can raise them without knowing the parameters of every function.
public struct WorkLimit: Hashable, Sendable {
    /// The limit as a multiple of ``standard``.
    public let factor: Int

    /// 1 GiB of memory, filled up to 4 times, in at most 64 lanes (Argon2) or 65,536 blocks (scrypt's r · p);
    /// 10,000,000 iterations for each digest's length of output (PBKDF2); cost 16 (bcrypt); 10,000,000 rounds (SHA-crypt).
    /// Each takes some seconds.
    public static let standard = WorkLimit(factor: 1)

    /// - Parameter factor: 1 to 2^20; other numbers count as the nearest of these.
    public init(factor: Int) { self.factor = min(max(factor, 1), 1 << 20) }

    /// - Parameter count: The output's length in bytes. PBKDF2 starts again for every digest's length of it.
    /// - Throws: ``CryptoError/workTooHigh``.
    public func check(_ function: PasswordFunction, count: Int = 32) throws(CryptoError) {
        let isWithin: Bool
        switch function {
        case .argon2(_, let parameters):
            // Attack: a string asks for very many lanes. They need almost no memory, but each lane starts and ends with every
            // quarter of a pass.
            isWithin =
                parameters.lanes <= 64 * factor
                && isWithinMemory(parameters.memoryKiB, passes: parameters.passes)
        case .scrypt(let logCost, let blockSize, let parallelism):
            // scrypt fills 128 · r · N bytes for each of the p blocks and reads them once more.
            // Attack: a string asks for a small N and a large p. Then the buffer of 128 · r · p bytes, which PBKDF2 fills and
            // copies, is by far the larger one, so r · p is limited too.
            guard logCost < 40, blockSize <= 1 << 20 else { throw .workTooHigh }
            isWithin =
                Self.product(blockSize, parallelism) <= (1 << 16) * factor
                && isWithinMemory((blockSize << logCost) / 8, passes: parallelism)
        case .pbkdf2(let algorithm, let iterations):
            let rounds = max(1, count / algorithm.count + (count % algorithm.count > 0 ? 1 : 0))
            isWithin = Self.product(iterations, rounds) <= 10_000_000 * factor
        case .bcrypt(let cost): isWithin = cost <= 16 + (Int.bitWidth - 1 - factor.leadingZeroBitCount)
        case .crypt(.yescrypt, let cost):
            isWithin =
                CryptMethod.yescrypt.costs.contains(cost) && isWithinMemory(YescryptParameters(cost: cost).memoryKiB, passes: 2)
        case .crypt(_, let rounds): isWithin = rounds <= 10_000_000 * factor
        }
        guard isWithin else { throw .workTooHigh }
    }

    private func isWithinMemory(_ kibibytes: Int, passes: Int) -> Bool {
        kibibytes <= (1 << 20) * factor && Self.product(kibibytes, passes) <= Argon2id.mostWork * factor
    }

    /// The product, or the largest number if it overflows. Numbers below zero, which no function takes, count as 0.
    static func product(_ one: Int, _ other: Int) -> Int {
        let (product, overflow) = max(one, 0).multipliedReportingOverflow(by: max(other, 0))
        return overflow ? .max : product
    }
}
