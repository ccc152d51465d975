#if Server
// The answer of a service. The door sends it.

internal import OMJSON

package struct ServerResponse: Hashable, Sendable {
    package var status: Int
    /// By name in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// The client would wait for another answer than this one. The door waits, and asks the service once more.
    package var wait: ChangeWait?

    package init(_ status: Int, _ headers: [String: String] = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    init(json: JSON) {
        self.init(200, ["content-type": "application/json"], body: Array(json.serialized.utf8))
    }
}
#endif
