// The machine's clocks and its boot id. None of them is proof: a user can set the wall clock and fake the boot id.

internal import COMSystem
internal import Glibc

/// The wall clock, the time since boot and the boot's id, all read at one moment.
public struct ClockReading: Hashable, Sendable {
    /// Seconds since 1970, UTC.
    public let wall: Int64
    /// Seconds since boot, suspended time included.
    public let sinceBoot: Int64
    /// 16 bytes; zeros when this boot has no known id.
    public let bootID: [UInt8]

    public init(wall: Int64, sinceBoot: Int64, bootID: [UInt8]) {
        precondition(bootID.count == 16, "a boot id has 16 bytes")
        (self.wall, self.sinceBoot, self.bootID) = (wall, sinceBoot, bootID)
    }

    /// Rounds both clocks to whole seconds that begin at the same moment. Rounded separately, the seconds would begin
    /// at different moments. Then the time since boot could run up to a second ahead of the wall clock.
    init(nanoseconds wall: Int64, sinceBoot: Int64, bootID: [UInt8]) {
        func seconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds - (nanoseconds < 0 ? 999_999_999 : 0)) / 1_000_000_000 }
        self.init(wall: seconds(wall), sinceBoot: seconds(wall) - seconds(wall - sinceBoot), bootID: bootID)
    }

    public static func now() -> ClockReading {
        var (wall, sinceBoot) = (Int64(0), Int64(0))
        guard om_clocks(&wall, &sinceBoot) == 0 else {
            return ClockReading(wall: Int64(time(nil)), sinceBoot: -1, bootID: readBootID())
        }
        return ClockReading(nanoseconds: wall, sinceBoot: sinceBoot, bootID: readBootID())
    }

    /// Whether the wall clock was ever set. A machine without a battery starts in 1970, or when its system was built.
    package var isWallSet: Bool { wall >= 1_704_067_200 /* 2024-01-01 */ }

    private static func readBootID() -> [UInt8] {
        let unknown = [UInt8](repeating: 0, count: 16)
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return unknown }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 36)
        let got = text.withUnsafeMutableBytes { buffer in
            retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
        }
        let digits = text.prefix(max(got, 0)).filter { $0 != UInt8(ascii: "-") }
            .compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32 else { return unknown }
        return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    }
}
