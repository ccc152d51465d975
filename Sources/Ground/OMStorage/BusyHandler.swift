// How long a connection waits for another process's lock, and how another thread ends that wait.

internal import COMSystem
internal import CSQLite
internal import Glibc
internal import OMSystem

/// The wait of one connection. SQLite's own time-out cannot be interrupted.
final class BusyHandler {
    var milliseconds: Int64 = 0
    var interruption: Interruption?
    private var start: Int64 = 0

    /// Call it once, for a connection that this object outlives.
    func install(_ handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, times in
                guard let context else { return 0 }
                return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue().shouldRetry(times) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Parameter times: How often SQLite has asked for this lock already.
    private func shouldRetry(_ times: Int32) -> Bool {
        let now = om_boot_milliseconds()
        if times == 0 { start = now }
        guard now - start < milliseconds, interruption?.isAsked != true else { return false }
        usleep(times < 3 ? 1_000 : 5_000)
        return true
    }
}
