// A folder as a remote, read and written by a confined process. docs/formats/sync.md, "The folder's helper".

internal import OMAgentProtocol
package import OMParcels
internal import OMRecords
package import OMSystem

/// The files of a remote in a folder, for a process that holds keys. It never opens the folder. Its helper does, which holds no
/// key and can open nothing else.
///
/// The first call starts the helper, and the end of this value ends it. After an error the next call starts another one: the folder
/// may be another one now, for example after its stick was mounted again, and a helper can open only its first one. One thread at a
/// time uses the value.
package final class ConfinedFolder: RemoteStore {
    package typealias Failure = RemoteFailure

    /// Each call's usual limit: a minute, which a slow stick needs to write a pack.
    package static let usualTime = 60_000

    private let folder: String
    private let vault: [UInt8]
    private let incarnation: [UInt8]
    private let helper: RemoteHelper

    /// - Parameters:
    ///   - folder: Where the user keeps the remote: an absolute path. It can be a link.
    ///   - vault: The vault's id. Both have 16 bytes.
    ///   - program: The absolute path of the agent's program. Only this user and root may be able to change the program, or its
    ///     folder.
    ///   - time: How long a call may take, in milliseconds. A share that does not answer holds the helper, not the caller.
    ///   - interruption: Lets another thread end a call early.
    package init(
        in folder: String, vault: [UInt8], incarnation: [UInt8], helper program: String, within time: Int = usualTime,
        interruption: Interruption? = nil
    ) {
        (self.folder, self.vault, self.incarnation) = (folder, vault, incarnation)
        helper = RemoteHelper(program, "--folder", within: time, unless: interruption)
    }

    // MARK: - Requests

    /// - Throws: ``RemoteFailure/storage(_:)`` with ``StorageError/missing`` if the remote's folder is not there: it is not mounted,
    ///   or was never made.
    package func files() throws(RemoteFailure) -> [RemoteFile] {
        guard case .files(let files) = try ask(.files) else { throw .helper(.misbehaved) }
        return files
    }

    package func bytes(of file: RemoteFile) throws(RemoteFailure) -> [UInt8]? {
        guard case .bytes(let bytes) = try ask(.bytes(file)) else { return nil }
        return bytes
    }

    /// Makes the remote: its folder, with `remote` in it.
    ///
    /// - Throws: ``RemoteFailure/storage(_:)`` with ``StorageError/exists`` if it is there already, or with
    ///   ``StorageError/missing`` if the folder above it is not there.
    package func make(founding: [UInt8]) throws(RemoteFailure) {
        _ = try ask(.found(founding), makes: true)
    }

    /// Writes a file whole. A reader sees all of it or none.
    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(RemoteFailure) {
        precondition(bytes.count <= file.maximumCount, "a file has no more bytes than a reader takes")
        _ = try ask(.write(bytes, file))
    }

    /// - Returns: false if there is none.
    @discardableResult
    package func remove(_ file: RemoteFile) throws(RemoteFailure) -> Bool { try ask(.remove(file)) == .done }

    // MARK: - The helper

    private func ask(_ request: FolderRequest, makes: Bool = false) throws(RemoteFailure) -> FolderReply {
        let opening = FolderRequest.Opening(folder: folder, vault: vault, incarnation: incarnation, makes: makes)
        guard let opening else { throw .storage(.missing) }
        return try helper.call(
            opening: { call throws(RemoteFailure) in _ = try Self.exchange(.open(opening), call) },
            { call throws(RemoteFailure) in try Self.exchange(request, call) })
    }

    /// - Returns: Any answer but an error of the folder.
    private static func exchange(
        _ request: FolderRequest, _ call: borrowing HelperCall
    ) throws(RemoteFailure) -> FolderReply {
        let bytes = try call.ask(request.encoded, upTo: request.maximumReply)
        let answer: FolderReply
        do throws(MalformedBytes) { answer = try FolderReply(decoding: bytes, to: request) } catch {
            throw .helper(.misbehaved)
        }
        if case .failed(let error) = answer { throw .storage(error) }
        return answer
    }
}
