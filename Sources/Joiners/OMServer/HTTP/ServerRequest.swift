#if Server
// A request as the services see it. The door makes it of what its HTTP library read.

/// A request whose parts are within the server's bounds. The door has checked them: `ServerLimits`.
package struct ServerRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", put = "PUT", post = "POST", delete = "DELETE" }

    package let method: Method
    /// The parts of the path between the slashes, decoded: `["v1", "sync"]`.
    package let path: [String]
    /// The query's pairs in their order, decoded. A query is never logged.
    package let query: [(name: String, value: String)]
    /// By name in lower case. A name that is there twice has both values, joined by ", ".
    package let headers: [String: String]
    package var body: [UInt8]
    /// The address of the client, for limits and logs: an IP address without its port.
    package let client: String

    package init(
        _ method: Method, path: [String], query: [(name: String, value: String)] = [], headers: [String: String] = [:],
        body: [UInt8] = [], client: String
    ) {
        (self.method, self.path, self.query, self.headers) = (method, path, query, headers)
        (self.body, self.client) = (body, client)
    }

    /// The value of a query's name that is there once. Nil if it is not there, or twice.
    package func value(_ name: String) -> String? {
        let found = query.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }
}
#endif
