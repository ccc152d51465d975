// The pages that the browser shows when it brings an answer. They are the same for every server and every request.

internal import NIOHTTP1

/// A static page: no script, no text of the request or of the server.
enum RedirectPage: CaseIterable {
    case accepted
    case refused
    case wrong
    case notFound
    case tooLong

    private var words: String {
        switch self {
        case .accepted: "omvault has the answer and continues there. You can close this page."
        case .refused: "The server did not log you in. omvault shows the reason. You can close this page."
        case .wrong: "This is not the answer that omvault waits for. Use the page that omvault opened."
        case .notFound: "Nothing is here."
        case .tooLong: "The request is too long."
        }
    }

    /// The answer to the browser.
    var page: LoopbackPage { LoopbackPage(status: status, headers: Self.headers(for: body), body: body) }

    /// The answer to the script of ``FragmentPage``, which shows it.
    var line: LoopbackPage {
        LoopbackPage(status: status, headers: Self.headers(for: words, type: "text/plain"), body: words)
    }

    private var status: HTTPResponseStatus {
        switch self {
        case .accepted, .refused: .ok
        case .wrong: .badRequest
        case .notFound: .notFound
        case .tooLong: .requestHeaderFieldsTooLarge
        }
    }

    private var body: String {
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>omvault</title><p>\(words)</p></html>\n"
    }

    /// Attack: another page, a cache or the next server learns the code from the page's address. None of them sees this page.
    ///
    /// - Parameter allowed: What the page may do beside being shown.
    static func headers(for body: String, type: String = "text/html", allowing allowed: String = "") -> HTTPHeaders {
        [
            "Content-Type": "\(type); charset=utf-8", "Content-Length": "\(body.utf8.count)", "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Connection": "close",
            "Content-Security-Policy": "default-src 'none'; \(allowed)frame-ancestors 'none'",
        ]
    }
}
