// The folder's helper: a process that reads and writes one remote's folder for `ConfinedFolder`. docs/formats/sync.md, "The
// folder's helper".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMParcels
internal import OMRemote
internal import OMSystem

/// The process that serves one remote's folder.
package enum FolderHelper {
    /// Later than any request.
    private static let never = Int64.max / 2

    /// Reads the first request, confines the process to the remote's folder, and answers requests until the other end of the
    /// socket is closed. Then it ends the process. Call it right after ``AgentProcess/harden(hidesMemory:)``, while there is one
    /// thread.
    ///
    /// The exit code is 0 at the end, or if there is no folder to serve; 2 if no process of this user is at descriptor 3; and 1
    /// for everything else.
    package static func run() -> Never {
        let channel = FrameChannel(HelperSocket.take())
        guard case .open(let opening) = next(channel) else { _exit(1) }
        let remote = FolderRemote(in: opening.folder, vault: opening.vault, incarnation: opening.incarnation)
        do throws(StorageError) {
            // Later this process cannot make a folder there. No byte of the folder has been read yet.
            if opening.makes { try remote.makeFolder() }
            try remote.checkIsThere()
        } catch {
            answer(.failed(error), channel)
            _exit(0)
        }
        // The processor time is for all requests of a long sync.
        guard om_limit_process(UInt64(Pack.maximumCount), 3600) == 0, Confinement.apply(folder: remote.path) else { _exit(1) }
        answer(.done, channel)
        while let request = next(channel) { answer(reply(to: request, remote), channel) }
        _exit(0)
    }

    /// Nil at the end. The process ends after bytes that are no request.
    private static func next(_ channel: borrowing FrameChannel) -> FolderRequest? {
        do {
            let most = FolderRequest.maximumCount
            guard let message = try RemoteMessage.receive(.question, upTo: most, from: channel, until: never) else { return nil }
            return try FolderRequest(decoding: message)
        } catch { _exit(1) }
    }

    private static func answer(_ reply: FolderReply, _ channel: borrowing FrameChannel) {
        do throws(ChannelError) { try RemoteMessage.send(reply.encoded, .answer, over: channel, until: never) } catch { _exit(1) }
    }

    private static func reply(to request: FolderRequest, _ remote: FolderRemote) -> FolderReply {
        do throws(StorageError) {
            switch request {
            case .open: _exit(1)
            case .files:
                let reply = FolderReply.files(try remote.files())
                guard reply.encoded.count <= FolderReply.maximumList else { throw .io(EOVERFLOW) }
                return reply
            case .bytes(let file): return try remote.bytes(of: file).map { .bytes($0) } ?? .none
            case .write(let bytes, let file): try remote.write(bytes, to: file)
            case .remove(let file): return try remote.remove(file) ? .done : .none
            case .found(let founding): try remote.found(with: founding)
            }
            return .done
        } catch { return .failed(error) }
    }
}
