internal import FoundationEssentials
internal import NIOHTTP1

/// A server's answer. Its body is empty if the caller did not want it.
struct HTTPResponse: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var isSuccess: Bool { (200..<300).contains(status) }
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
    /// The server's clock, to the second.
    var date: Int64? { headers.first(name: "Date").flatMap(HTTPDate.seconds) }
    var saysRetryAfter: Bool { headers.contains(name: "Retry-After") }
    /// Seconds. Nil too if the field cannot be read.
    var retryAfter: UInt32? {
        headers.first(name: "Retry-After").flatMap { HTTPDate.retryAfter($0, date: date, now: UnixTime.now()) }
    }
}
