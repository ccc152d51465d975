// A folder as a remote, read and written by a confined process. docs/formats/sync.md, "The folder's helper".

internal import COMSystem
package import OMAgentProtocol
package import OMParcels
internal import OMRecords
package import OMSystem

/// The files of a remote in a folder, for a process that holds keys. It never opens the folder. Its helper does, which holds no
/// key and can open nothing else.
///
/// The first call starts the helper, and the end of this value ends it. After an error the next call starts another one. One
/// thread at a time uses the value.
package final class ConfinedFolder: RemoteStore {
    package enum Failure: Error, Hashable, Sendable {
        /// The folder's error. ``StorageError/missing``: the remote is not mounted, or was never made.
        case storage(StorageError)
        /// No helper could be started (``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``,
        /// ``AgentError/io(_:)``), it did not answer in time (``AgentError/deadline``), or it ended or broke the protocol
        /// (``AgentError/misbehaved``).
        case helper(AgentError)
        /// The interruption was asked for during the call.
        case interrupted
    }

    /// Each call's usual limit: a minute, which a slow stick needs to write a pack.
    package static let usualTime = 60_000
    /// How long a wait goes on before it looks at the interruption, in milliseconds.
    private static let pause: Int64 = 50

    private let folder: String
    private let vault: [UInt8]
    private let incarnation: [UInt8]
    private let program: String
    private let time: Int
    private let interruption: Interruption?
    private var helper: RunningHelper?

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
        (self.program, self.time, self.interruption) = (program, time, interruption)
    }

    // MARK: - Requests

    /// - Throws: ``Failure/storage(_:)`` with ``StorageError/missing`` if the remote's folder is not there: it is not mounted, or
    ///   was never made.
    package func files() throws(Failure) -> [RemoteFile] {
        guard case .files(let files) = try ask(.files) else { throw .helper(.misbehaved) }
        return files
    }

    package func bytes(of file: RemoteFile) throws(Failure) -> [UInt8]? {
        guard case .bytes(let bytes) = try ask(.bytes(file)) else { return nil }
        return bytes
    }

    /// Makes the remote: its folder, with `remote` in it.
    ///
    /// - Throws: ``Failure/storage(_:)`` with ``StorageError/exists`` if it is there already, or with ``StorageError/missing`` if
    ///   the folder above it is not there.
    package func make(founding: [UInt8]) throws(Failure) {
        _ = try ask(.found(founding), makes: true)
    }

    /// Writes a file whole. A reader sees all of it or none.
    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(Failure) {
        precondition(bytes.count <= file.maximumCount, "a file has no more bytes than a reader takes")
        _ = try ask(.write(bytes, file))
    }

    /// - Returns: false if there is none.
    @discardableResult
    package func remove(_ file: RemoteFile) throws(Failure) -> Bool { try ask(.remove(file)) == .done }

    // MARK: - The helper

    /// Starts the helper if none runs, and asks it. The helper ends with any error: the folder may be another one now, for example
    /// after its stick was mounted again, and this helper can open only its first one.
    private func ask(_ request: FolderRequest, makes: Bool = false) throws(Failure) -> FolderReply {
        let end = bootMilliseconds() + Int64(time)
        do throws(Failure) {
            if helper == nil {
                let opening = FolderRequest.Opening(folder: folder, vault: vault, incarnation: incarnation, makes: makes)
                guard let opening else { throw .storage(.missing) }
                helper = try RunningHelper(program, interruption)
                _ = try exchange(.open(opening), until: end)
            }
            return try exchange(request, until: end)
        } catch {
            helper = nil
            throw interruption?.isAsked == true ? .interrupted : error
        }
    }

    /// - Returns: Any answer but an error of the folder.
    private func exchange(_ request: FolderRequest, until end: Int64) throws(Failure) -> FolderReply {
        guard let helper else { throw .helper(.misbehaved) }
        do throws(ChannelError) {
            try FolderMessage.send(request.encoded, .question, over: helper.process.channel, until: end)
        } catch { throw .helper(error == .deadline ? .deadline : .misbehaved) }
        try awaitReply(helper.process.channel.descriptor, until: end)
        let answer: FolderReply
        do throws(ChannelError) {
            let reply = try FolderMessage.receive(
                .answer, upTo: request.maximumReply, from: helper.process.channel, until: end)
            guard let reply else { throw .ended }
            do throws(MalformedBytes) { answer = try FolderReply(decoding: reply, to: request) } catch { throw .malformed }
        } catch { throw .helper(error == .deadline ? .deadline : .misbehaved) }
        if case .failed(let error) = answer { throw .storage(error) }
        return answer
    }

    private func awaitReply(_ descriptor: Int32, until end: Int64) throws(Failure) {
        while true {
            if interruption?.isAsked == true { throw .interrupted }
            let left = end - bootMilliseconds()
            switch om_socket_wait(descriptor, -1, Int32(max(0, min(left, Self.pause)))) {
            case 0: if left <= 0 { throw .helper(.deadline) }
            case 1: return
            default: throw .helper(.misbehaved)
            }
        }
    }
}

/// A started helper.
private final class RunningHelper {
    let process: HelperProcess

    init(_ program: String, _ interruption: Interruption?) throws(ConfinedFolder.Failure) {
        do throws(AgentError) {
            // The helper may be in a call of a share that does not answer, which no signal ends.
            process = try HelperProcess(try AgentProcess.check(program), "--folder", waits: false, interruption: interruption)
        } catch { throw .helper(error) }
    }
}
