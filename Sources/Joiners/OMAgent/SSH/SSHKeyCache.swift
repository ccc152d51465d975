internal import OMItems
internal import OMVault
internal import Synchronization

/// The public halves of keys that were computed before. To open an encrypted key takes a second. A public key is no secret, and
/// one is offered only if its item is open.
final class SSHKeyCache: Sendable {
    private struct Entry {
        let revision: UInt64
        /// Nil for a text that is no usable key.
        let publicKey: [UInt8]?
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])

    /// - Returns: nil if the item's key was not computed, or is another one now.
    func publicKey(of item: Item) -> [UInt8]?? {
        entries.withLock { entries in
            guard let entry = entries[item.id], entry.revision == item.revision else { return nil }
            return .some(entry.publicKey)
        }
    }

    func note(_ publicKey: [UInt8]?, of item: Item) {
        entries.withLock { entries in
            if entries.count >= 2 * SSHKeyItem.most { entries.removeAll() }
            entries[item.id] = Entry(revision: item.revision, publicKey: publicKey)
        }
    }
}
