internal import COMSystem
internal import Glibc

/// Runs code with signals blocked on this thread: those of a terminal, of resource limits and of `kill`. So a charge is
/// always settled. The system delivers the signals afterwards.
package enum DeferredSignals {
    package static func run<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        var mask = [UInt8](repeating: 0, count: om_signal_mask_size())
        let held = mask.withUnsafeMutableBytes { om_signals_hold($0.baseAddress, $0.count) == 0 }
        defer {
            if held { _ = mask.withUnsafeBytes { om_signals_release($0.baseAddress, $0.count) } }
        }
        return try body()
    }
}
