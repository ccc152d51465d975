// One lock from charge to settle, from a vault's commit to its high-water mark.

internal import Glibc

/// A lock on a file that is made once and never replaced. Each hold opens the file anew, so threads exclude each other too.
package struct FileLock: Sendable {
    private let folder: PrivateFolder
    private let name: String

    package init(_ folder: PrivateFolder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// Runs `body` while no other process or thread holds this lock.
    ///
    /// - Parameters:
    ///   - wait: how long to wait for it, in milliseconds.
    ///   - interruption: ends the wait before that.
    /// - Throws: ``StorageError/busy`` after the wait; nothing has run then.
    package func hold<R: ~Copyable, E: StorageErrorConvertible>(
        wait: Int = 60_000, unless interruption: Interruption? = nil, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let file: PrivateFile
        do throws(StorageError) { file = try acquire(wait, interruption) } catch { throw E(storage: error) }
        let result = try body()
        // Not before here: the lock goes when the descriptor closes.
        withExtendedLifetime(file.descriptor) {}
        _ = consume file
        return result
    }

    private func acquire(_ wait: Int, _ interruption: Interruption?) throws(StorageError) -> PrivateFile {
        // Milliseconds. If hundreds of processes looked every 2 ms, the lock's holder would get no processor time.
        let longestPause = min(20, max(2, wait / 100))
        var waited = 0, pause = 2
        while true {
            let file = try PrivateFile(folder.file(name), O_RDWR | O_CREAT)
            while retryingInterrupts({ flock(file.descriptor, LOCK_EX | LOCK_NB) }) != 0 {
                guard errno == EWOULDBLOCK else { throw .last }
                guard waited < wait, interruption?.isAsked != true else { throw .busy }
                usleep(UInt32(pause) * 1_000)
                waited += pause
                pause = min(pause + pause / 2, longestPause)
            }
            // Somebody deleted or replaced the file while we waited: that lock excludes nobody. Take the new one.
            if file.isStill(at: folder.file(name)) { return file }
            guard waited < wait, interruption?.isAsked != true else { throw .busy }
            waited += 2
        }
    }
}
