internal import OMMasking
internal import OMSecrets
internal import Synchronization

/// The values that the output of a program must not show. Threads share it.
final class OutputMask: Sendable {
    private struct Content: ~Copyable {
        var list = MaskList()
        var mask: Mask?
    }

    private let content = Mutex(Content())

    var isEmpty: Bool { content.withLock { $0.list.isEmpty } }

    /// - Parameter name: The name in the marker.
    /// - Returns: Whether it is long enough to be found.
    @discardableResult
    func add(_ value: borrowing SecretBytes, _ name: String) -> Bool {
        // A copy, because the closure cannot borrow it.
        let value = value.duplicate()
        return content.withLock { content in
            content.mask = nil
            return content.list.add(value, marker: "<concealed:\(name)>")
        }
    }

    var mask: Mask {
        content.withLock { content in
            if let mask = content.mask { return mask }
            let mask = content.list.mask()
            content.mask = mask
            return mask
        }
    }
}
