// The notices of a command whose answer is JSON, until its answer is printed.

internal import Synchronization

/// Holds notices back, so that a command that fails prints one JSON document on standard error and nothing else. They are in
/// the document then.
final class HeldNotices: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    /// The notices so far, in their order. They are not held any more.
    func take() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }
}
