// A lock on a file. A login holds one from charge to settle, a vault from its commit to its high-water mark.

internal import Glibc

/// A lock on a file that is created once and never replaced. Each hold opens the file again, so the lock also excludes
/// other threads of this process.
package struct FileLock: Sendable {
    private let folder: PrivateFolder
    private let name: String

    package init(_ folder: PrivateFolder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// Runs `body` while no other process or thread holds this lock.
    ///
    /// - Parameters:
    ///   - wait: How long to wait for the lock, in milliseconds.
    ///   - interruption: Ends the wait early.
    /// - Throws: ``StorageError/busy`` if the wait ends without the lock. Then `body` has not run.
    package func hold<R: ~Copyable, E: StorageErrorConvertible>(
        wait: Int = 60_000, unless interruption: Interruption? = nil, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let file: PrivateFile
        do throws(StorageError) { file = try acquire(wait, interruption) } catch { throw E(storage: error) }
        let result = try body()
        // The descriptor must live until here: closing it releases the lock.
        withExtendedLifetime(file.descriptor) {}
        _ = consume file
        return result
    }

    private func acquire(_ wait: Int, _ interruption: Interruption?) throws(StorageError) -> PrivateFile {
        // In milliseconds. If hundreds of processes looked every 2 ms, the lock's holder would get no processor time.
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
            // Another process may have deleted or replaced the file during the wait. A lock on the old file excludes no
            // process, so lock the new one.
            if file.isStill(at: folder.file(name)) { return file }
            guard waited < wait, interruption?.isAsked != true else { throw .busy }
            waited += 2
        }
    }
}
