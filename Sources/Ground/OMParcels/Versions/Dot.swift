/// The name of one edit: the device that made it, and that device's count of its edits. A device uses no count twice.
package struct Dot: Hashable, Comparable, Sendable {
    /// The number of a device of the roll.
    package let device: UInt32
    /// 1 and more.
    package let count: UInt64

    package init(device: UInt32, count: UInt64) { (self.device, self.count) = (device, count) }

    package static func < (one: Dot, other: Dot) -> Bool { (one.device, one.count) < (other.device, other.count) }
}
