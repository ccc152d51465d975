// The messages of one pairing in the folder of a remote. Format: docs/formats/sync.md, "Pairing".

package import OMParcels
package import OMSyncKeys

/// The four messages of a pairing, sealed under its code.
package struct PairingMessages: ~Copyable {
    package let code: PairingCode

    package init(_ code: consuming PairingCode) { self.code = code }

    package borrowing func put<Store: RemoteStore>(
        _ message: PairingCode.Message, _ encoded: [UInt8], on store: Store
    ) throws(Store.Failure) {
        try store.write(code.seal(message, encoded), to: file(message))
    }

    /// - Returns: Nil if the message is not there yet, is torn, or was not sealed under the code.
    package borrowing func read<Files: RemoteFiles>(
        _ message: PairingCode.Message, from files: Files
    ) throws(Files.Failure) -> [UInt8]? {
        guard let box = try files.bytes(of: file(message)) else { return nil }
        return try? code.open(message, box)
    }

    /// A device removes only what it wrote.
    package borrowing func remove<Store: RemoteStore>(
        _ messages: [PairingCode.Message], from store: Store
    ) throws(Store.Failure) {
        for message in messages { try store.remove(file(message)) }
    }

    private borrowing func file(_ message: PairingCode.Message) -> RemoteFile {
        .message(mailbox: code.mailbox, number: message.rawValue)
    }
}
