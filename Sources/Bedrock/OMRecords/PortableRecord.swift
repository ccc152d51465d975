// Records that can leave the device. A device-only record cannot become this type, and only this type has an encoding
// for another device. Format: docs/formats/vault-format.md, "Record".

/// A record of a level that is not device-only.
///
///     guard let portable = PortableRecord(record) else { … }   // bound to this device
///     stream += portable.encoded
package struct PortableRecord: Hashable, Sendable {
    package let record: Record

    /// - Returns: nil for a record that is bound to its device.
    package init?(_ record: Record) {
        guard !record.header.level.isDeviceOnly else { return nil }
        self.record = record
    }

    /// The bytes for a portable backup and for sync.
    package var encoded: [UInt8] { record.stored }

    /// - Throws: Also for a record that is bound to a device, because no device sends one.
    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        guard let portable = PortableRecord(try Record(decoding: bytes)) else { throw MalformedBytes() }
        self = portable
    }
}
