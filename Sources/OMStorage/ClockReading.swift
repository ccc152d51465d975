// What the machine says about the time. None of it is proof: a user can set the first, and fake the last.

internal import COMSystem
internal import Glibc
internal import OMSecrets

/// The wall clock, the time since boot and which boot it is, read at one moment.
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

    public static func now() -> ClockReading {
        ClockReading(wall: Int64(time(nil)), sinceBoot: om_boot_seconds(), bootID: readBootID())
    }

    private static func readBootID() -> [UInt8] {
        let unknown = [UInt8](repeating: 0, count: 16)
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return unknown }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 36)
        let got = text.withUnsafeMutableBytes { buffer in
            retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
        }
        let digits = String(decoding: text.prefix(max(got, 0)).filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        guard let id = try? Hex.decode(digits), id.count == 16 else { return unknown }
        return id
    }
}
