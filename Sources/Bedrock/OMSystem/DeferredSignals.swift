internal import COMSystem
internal import Glibc

/// Runs code while the signals of a terminal, of resource limits and of `kill` are blocked on this thread, so that a charge is
/// always settled. They are delivered afterwards.
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
