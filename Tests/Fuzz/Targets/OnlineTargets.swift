// The bytes of a server, of the online helper, and of programs that pretend to be one of them.

import NIOHTTP1
import OMSecrets

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMOnline

enum OnlineTargets {
    private static let number = [UInt8](repeating: 7, count: 16)

    static let all = [
        // A value that is read must be written again as the same bytes.
        FuzzTarget(name: "online-question") { bytes in
            guard let question = try? OnlineQuestion(decoding: bytes.span), let again = question.encoded() else {
                return
            }
            precondition(again.withBytes { again in again.indices.map { again[$0] } } == bytes, "two spellings")
        },
        // The first byte chooses the task that is answered.
        FuzzTarget(name: "online-answer") { bytes in
            let tasks: [OnlineTask] = [.login(user: "a"), .check, .refresh, .logout(user: nil), .profile]
            guard let first = bytes.first else { return }
            let body = number + bytes.dropFirst()
            guard let reply = try? OnlineReply.decode(body.span, to: number, tasks[Int(first) % tasks.count]) else {
                return
            }
            let again = reply.encoded(number)
            precondition(again.withBytes { again in again.indices.map { again[$0] } } == body, "two spellings")
        },
        // The first byte chooses a status.
        FuzzTarget(name: "online-tokens") { bytes in
            guard let first = bytes.first else { return }
            let answer = HTTPResponse(
                status: [200, 400, 401, 403, 429, 503][Int(first) % 6], headers: [:], body: Array(bytes.dropFirst()))
            _ = try? TokenResponse(answer, sendsPassword: first > 127)
        },
        FuzzTarget(name: "online-discovery") { bytes in
            guard let address = EndpointURL(reading: "https://a.example/.well-known/openid-configuration") else {
                return
            }
            _ = try? OAuthEndpoints.read(bytes, from: address)
        },
        FuzzTarget(name: "online-session") { bytes in _ = try? ServerSession(SecretBytes(copying: bytes)) },
        FuzzTarget(name: "online-fields") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self),
                let here = EndpointURL(reading: "https://a.example:8443/b/c?d")
            else { return }
            _ = HTTPDate.seconds(text)
            _ = HTTPDate.retryAfter(text, date: nil, now: 0)
            var jar = CookieJar()
            try? jar.store([text, text], from: here, now: 0)
            if let field = jar.field(for: here, now: 0) {
                precondition(!field.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a cookie that ends the line")
            }
            if let target = here.resolving(text) {
                precondition(EndpointURL(reading: target.text) == target, "an address with two readings")
            }
        },
    ]
}
