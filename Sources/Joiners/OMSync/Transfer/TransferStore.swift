// The files of a remote, with counts of those that were read and written.

package import OMItems
package import OMParcels
package import OMVault

/// How much of an exchange is done.
package struct TransferState: Hashable, Sendable {
    /// Packs of other devices. How many are to be read is known after the first look at the remote.
    package var read = 0
    package var toRead = 0
    /// Bytes of packs.
    package var (bytesRead, bytesWritten) = (0, 0)

    package init() {}
}

/// A remote that tells how much was read and written. One thread at a time uses it.
package final class TransferStore<Base: RemoteStore>: RemoteStore {
    private let base: Base
    private let known: Set<RemoteFile>
    private let device: UInt32
    private let note: (TransferState) -> Void
    private var amount = TransferState()
    private var hasLooked = false
    /// A long transfer reads some packs twice.
    private var read: Set<RemoteFile> = []

    /// - Parameters:
    ///   - known: The packs that are read already: `Vault.knownPacks(of:)`.
    ///   - device: The number of this device.
    ///   - note: Called with each pack.
    package init(_ base: Base, known: Set<RemoteFile>, device: UInt32, _ note: @escaping (TransferState) -> Void) {
        (self.base, self.known, self.device, self.note) = (base, known, device, note)
    }

    package func files() throws(Base.Failure) -> [RemoteFile] {
        let files = try base.files()
        guard !hasLooked else { return files }
        hasLooked = true
        amount.toRead = files.count { isNews($0) }
        note(amount)
        return files
    }

    package func bytes(of file: RemoteFile) throws(Base.Failure) -> [UInt8]? {
        let bytes = try base.bytes(of: file)
        if isNews(file) {
            if read.insert(file).inserted { amount.bytesRead += bytes?.count ?? 0 }
            amount.read = read.count
            // A pack that arrived after the look is one more.
            amount.toRead = max(amount.toRead, amount.read)
            note(amount)
        }
        return bytes
    }

    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(Base.Failure) {
        try base.write(bytes, to: file)
        guard case .pack = file else { return }
        amount.bytesWritten += bytes.count
        note(amount)
    }

    @discardableResult
    package func remove(_ file: RemoteFile) throws(Base.Failure) -> Bool { try base.remove(file) }

    private func isNews(_ file: RemoteFile) -> Bool {
        guard case .pack(let signer, _) = file else { return false }
        return signer != device && !known.contains(file)
    }
}

extension Vault {
    /// The packs of other devices that this device has read from a remote.
    package func knownPacks(of remote: RemoteRow) throws(VaultError) -> Set<RemoteFile> {
        try readSync { access throws(VaultError) in
            let listed = try RemoteView(remote, access).known.newest.values.flatMap { head in
                head.statement.packs.map { RemoteFile.pack(device: head.statement.device, number: $0.number) }
            }
            let unread = try UnreadPack.all(access).filter { $0.remote == remote.id }
            return Set(listed).subtracting(unread.map { .pack(device: $0.signer, number: $0.reference.number) })
        }
    }
}
