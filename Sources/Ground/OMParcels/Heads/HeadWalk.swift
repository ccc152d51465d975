// How a later head of a device leads to an earlier one. Format: docs/formats/sync.md, "Head".

package enum HeadWalk {
    /// The numbers on the way: each one's `skip` if that does not lead past the target, else its `previous`. Of a number with n
    /// bits there are about n²/2 at most.
    ///
    /// - Returns: The numbers behind `number`, by falling number. The last one is `target`.
    package static func numbers(from number: UInt64, to target: UInt64) -> [UInt64] {
        precondition(target > 0, "the first head has the number 1")
        var numbers: [UInt64] = []
        var current = number
        while current > target {
            let skipped = Head.skipped(from: current)
            current = skipped >= target ? skipped : current - 1
            numbers.append(current)
        }
        return numbers
    }

    /// The own heads that other devices need for their walks, by falling number.
    ///
    /// - Parameters:
    ///   - own: The number of the newest own head.
    ///   - targets: The numbers of the own heads that present members name.
    ///   - isSilent: Whether a present member names none.
    package static func numbersForOthers(to own: UInt64, named targets: [UInt64], isSilent: Bool) -> [UInt64] {
        guard let oldest = isSilent ? 1 : targets.min() else { return [] }
        let last = (oldest..<own).suffix(maximumForOthers)
        return Set(last).union(targets.flatMap { numbers(from: own, to: $0) }).sorted(by: >)
    }

    private static let maximumForOthers = 1024

    /// The digest of an earlier head of the same device, as a later head has it.
    ///
    /// - Parameters:
    ///   - heads: The heads that are here, by their digests. They need no signature, because the later head has their digests.
    /// - Returns: nil if a head on the way is not here.
    package static func digest(of target: UInt64, from head: Head, over heads: [[UInt8]: Head]) -> [UInt8]? {
        var (current, digest) = (head.statement, head.digest)
        for number in numbers(from: current.number, to: target) {
            digest = number == current.number - 1 ? current.previous : current.skip
            guard number > target else { break }
            guard let next = heads[digest]?.statement, next.number == number, next.device == current.device,
                next.vault == current.vault, next.incarnation == current.incarnation
            else { return nil }
            current = next
        }
        return digest
    }
}
