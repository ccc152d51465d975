internal import Synchronization

/// How many bytes of a file are still to be sent. No limit if no one knows its length.
final class BytesLeft: Sendable {
    private let left: Mutex<UInt64?>

    init(_ count: UInt64?) { left = Mutex(count) }

    func bounded(_ most: Int) -> Int { left.withLock { $0.map { Int(min(UInt64(most), $0)) } ?? most } }

    /// - Returns: false if the file ended too early.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard let before = left else { return true }
            left = before - UInt64(count)
            return count > 0 || before == 0
        }
    }
}
