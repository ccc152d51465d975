// The size of a sweep: a sample, or the whole sweep with `OMVAULT_WHOLE=1`.

import Foundation

public enum Sweep {
    public static let isWhole = ProcessInfo.processInfo.environment["OMVAULT_WHOLE"] != nil

    /// `whole`, or `sample` if only a sample runs.
    public static func count(_ whole: Int, sample: Int) -> Int { isWhole ? whole : sample }

    /// The points 1 to `count` of a sweep, or a sample of `sample` points. The sample is always the same, and has the first and
    /// the last point.
    public static func points(upTo count: Int, sample: Int) -> [Int] {
        guard !isWhole, count > sample else { return Array(1..<count + 1) }
        return (0..<sample).map { 1 + $0 * (count - 1) / (sample - 1) }
    }
}
