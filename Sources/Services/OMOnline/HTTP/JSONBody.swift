internal import NIOCore
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

/// A JSON object with secrets, as a request's body.
struct JSONBody: ~Copyable {
    private var bytes = SecretBuffer()

    init() { bytes.append(UInt8(ascii: "{")) }

    mutating func add(_ name: String, _ text: String) { add(name, json: JSONText.quoted(text)) }

    /// - Parameter json: JSON text.
    mutating func add(_ name: String, json: String) {
        begin(name)
        bytes.append(json.utf8Span.span)
    }

    mutating func add(_ name: String, _ secret: borrowing SecretBytes) throws(OnlineRefusal) {
        begin(name)
        try Self.quote(secret, into: &bytes)
    }

    /// - Parameter json: JSON text with secrets.
    mutating func add(_ name: String, json: consuming SecretBuffer) {
        begin(name)
        json.withBytes { bytes.append($0) }
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append("\(JSONText.quoted(name)):".utf8Span.span)
    }

    static func canCarry(_ secret: borrowing SecretBytes) -> Bool {
        secret.withBytes { bytes in (try? UTF8Span(validating: bytes)) != nil }
    }

    /// Appends the secret as a JSON string, with only the escapes that JSON demands.
    ///
    /// - Throws: ``OnlineFailure/unusablePassword`` for bytes that are not UTF-8: JSON cannot carry them.
    static func quote(_ secret: borrowing SecretBytes, into target: inout SecretBuffer) throws(OnlineRefusal) {
        guard canCarry(secret) else { throw .failed(.unusablePassword) }
        target.append(UInt8(ascii: "\""))
        secret.withBytes { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    target.append(UInt8(ascii: "\\"))
                    target.append(bytes[index])
                case 0..<0x20: target.append(JSONText.escaped(Unicode.Scalar(bytes[index])).utf8Span.span)
                default: target.append(bytes[index])
                }
            }
        }
        target.append(UInt8(ascii: "\""))
    }

    consuming func finish() -> ByteBuffer {
        bytes.append(UInt8(ascii: "}"))
        return bytes.requestBody()
    }
}
