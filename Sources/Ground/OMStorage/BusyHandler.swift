// How long a connection waits for what another process has locked, and who may end that wait.

internal import COMSystem
internal import CSQLite
internal import Glibc
internal import OMSystem

/// The wait of one connection. SQLite's own time-out sleeps on whatever happens.
final class BusyHandler {
    var milliseconds: Int64 = 0
    var interruption: Interruption?
    private var start: Int64 = 0

    /// To be called once, for a connection that does not outlive this.
    func install(_ handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, times in
                guard let context else { return 0 }
                return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue().shouldRetry(times) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Parameter times: how often it was asked for this lock before.
    private func shouldRetry(_ times: Int32) -> Bool {
        let now = om_boot_milliseconds()
        if times == 0 { start = now }
        guard now - start < milliseconds, interruption?.isAsked != true else { return false }
        usleep(times < 3 ? 1_000 : 5_000)
        return true
    }
}
