// The heads of requests and answers, as frames. Format: docs/formats/online-protocol.md, "Requests".

package import OMAgentProtocol
package import OMOnlineModel
package import OMRecords
package import OMSecrets

/// A request without its body.
package struct RequestHead: Hashable, Sendable {
    /// The most header lines of a request or an answer.
    package static let mostHeaders = 256
    /// The most bytes of a piece of a body.
    static let longestPiece = 1 << 20
    static let maximumBody = 3 << 20

    package enum Body: Hashable, Sendable {
        case none
        case counted(UInt64)
        case endless
    }

    /// 1 for the first request of a helper.
    package let number: UInt32
    package let method: String
    /// Path and query.
    package let target: String
    package let headers: [OnlineService.Header]
    package let body: Body
    /// Milliseconds for the request with its answer.
    package let limit: UInt32

    /// Whether each text fits its two bytes of length, and the head one frame.
    var fitsWire: Bool {
        let texts = headers.flatMap { [$0.name, $0.value] } + [method, target]
        return texts.allSatisfy { $0.utf8.count <= UInt16.max } && headers.count <= Self.mostHeaders
            && texts.reduce(0) { $0 + $1.utf8.count + 2 } < 2 << 20
    }
}

/// number (4) ‖ method ‖ target ‖ headers ‖ body ‖ limit (4)
extension RequestHead: WireValue {
    package func write(to buffer: inout SecretBuffer) {
        buffer.write(number, method, target)
        buffer.write(shortList: headers)
        switch body {
        case .none: buffer.write(tag: 0)
        case .counted(let count): buffer.write(tag: 1, count)
        case .endless: buffer.write(tag: 2)
        }
        buffer.write(limit)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let (number, method, target): (UInt32, String, String) = (try wire.read(), try wire.read(), try wire.read())
        let headers: [OnlineService.Header] = try wire.shortList(upTo: Self.mostHeaders)
        let body: Body
        switch try wire.read(UInt8.self) {
        case 0: body = .none
        case 1: body = .counted(try wire.read())
        case 2: body = .endless
        default: throw MalformedBytes()
        }
        let limit: UInt32 = try wire.read()
        guard (1...RequestOpening.total).contains(limit) else { throw MalformedBytes() }
        self.init(number: number, method: method, target: target, headers: headers, body: body, limit: limit)
    }
}

/// The head of an answer.
struct AnswerHead: Hashable, Sendable {
    let number: UInt32
    let status: UInt16
    let headers: [OnlineService.Header]
}

/// number (4) ‖ status (2) ‖ headers
extension AnswerHead: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(number, status)
        body.write(shortList: headers)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (number, status): (UInt32, UInt16) = (try wire.read(), try wire.read())
        guard (100...999).contains(status) else { throw MalformedBytes() }
        self.init(number: number, status: status, headers: try wire.shortList(upTo: RequestHead.mostHeaders))
    }
}
