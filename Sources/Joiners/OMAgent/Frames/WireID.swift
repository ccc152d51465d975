internal import OMRecords
internal import OMSecrets

/// An id, or the number of a question: 16 bytes.
struct WireID: WireValue {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func write(to body: inout SecretBuffer) { body.append(bytes.span) }

    init(from wire: inout WireReader) throws(MalformedBytes) { bytes = try wire.bytes(16) }
}
