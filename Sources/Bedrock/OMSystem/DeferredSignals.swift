internal import COMSystem
internal import Glibc

/// A stretch of code that the signals of a terminal, of a limit and of `kill` wait for, so that a charge is always settled.
public enum DeferredSignals {
    public static func run<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        var mask = [UInt8](repeating: 0, count: om_signal_mask_size())
        let held = mask.withUnsafeMutableBytes { om_signals_hold($0.baseAddress, $0.count) == 0 }
        defer {
            if held { _ = mask.withUnsafeBytes { om_signals_release($0.baseAddress, $0.count) } }
        }
        return try body()
    }
}
