package import OMRecords
package import OMSecrets

/// An id, or the number of a question: 16 bytes.
package struct WireID: WireValue {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func write(to body: inout SecretBuffer) { body.append(bytes.span) }

    package init(from wire: inout WireReader) throws(MalformedBytes) { bytes = try wire.bytes(16) }
}
