// The requests of a login that has cookies.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMOnlineModel

/// Requests to one server, with its cookies.
struct Visit {
    /// The most bytes of a page. The page is read only to see that it is complete; its content is not needed.
    private static let maximumPage = 1 << 20

    let exchange: HTTPExchange
    /// Sent with every request.
    let headers: [OnlineService.Header]
    var jar = CookieJar()

    mutating func get(
        _ address: EndpointURL, adding more: [OnlineService.Header] = []
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var request = HTTPClientRequest(url: address.text)
        for header in headers + more { request.headers.add(name: header.name, value: header.value) }
        if let field = jar.field(for: address, now: UnixTime.now()) { request.headers.add(name: "Cookie", value: field) }
        let answer = try await exchange.fetch(request, limit: Self.maximumPage, readsErrors: false)
        try jar.store(answer.headers["Set-Cookie"], from: address, now: UnixTime.now())
        return answer
    }

    /// The page at the end of the address's redirects, and that page's address.
    mutating func page(_ address: EndpointURL) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        let answer = try await get(address)
        return try await follow(answer, from: address)
    }

    /// Follows redirects within the origin.
    mutating func follow(
        _ answer: HTTPResponse, from address: EndpointURL
    ) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        var (answer, address) = (answer, address)
        var followed = 0
        while answer.isRedirect {
            let status = UInt16(answer.status)
            guard let location = answer.headers.first(name: "Location"), let target = address.resolving(location) else {
                throw .failed(.redirected, status: status)
            }
            guard target.isSecure || !address.isSecure else { throw .failed(.downgraded, status: status) }
            guard target.hasOrigin(of: address), followed < OnlineService.mostRedirects else {
                throw .failed(.redirected, status: status)
            }
            address = target
            answer = try await get(address)
            followed += 1
        }
        return (answer, address)
    }

    /// Follows redirects of a server that has the password already.
    mutating func followAfterPassword(
        _ answer: HTTPResponse, from address: EndpointURL
    ) async throws(OnlineRefusal) -> (HTTPResponse, EndpointURL) {
        do throws(OnlineRefusal) { return try await follow(answer, from: address) } catch {
            throw error.afterPassword(status: UInt16(answer.status))
        }
    }
}
