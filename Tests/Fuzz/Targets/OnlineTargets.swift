// The bytes of a server, of the online helper, and of programs that pretend to be one of them.

import NIOHTTP1
import OMJSON
import OMOnlineModel
import OMSecrets

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMAuth
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
        // The first byte chooses the frame.
        FuzzTarget(name: "request-frames") { bytes in
            guard let first = bytes.first else { return }
            let body = Array(bytes.dropFirst())
            var again = SecretBuffer()
            switch first % 3 {
            case 0:
                guard let opening = try? RequestOpening(decoding: body.span), let encoded = opening.encoded() else { return }
                again = encoded
            case 1:
                var wire = WireReader(body.span)
                guard let head = try? wire.read(RequestHead.self), wire.isAtEnd else { return }
                again.write(head)
            default:
                var wire = WireReader(body.span)
                guard let head = try? wire.read(AnswerHead.self), wire.isAtEnd else { return }
                again.write(head)
            }
            precondition(again.withBytes { again in again.indices.map { again[$0] } } == body, "two spellings")
        },
        // The first byte chooses the task that is answered.
        FuzzTarget(name: "online-answer") { bytes in
            let tasks: [OnlineTask] = [
                .login(user: "a"), .check, .refresh, .logout(user: nil), .profile, .answer(user: "a"), .endpoints, .grant,
            ]
            guard let first = bytes.first else { return }
            let body = number + bytes.dropFirst()
            _ = try? SigningPurpose(decoding: body.span, of: number)
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
            for issuer in [nil, "https://a.example"] {
                let service = OAuthService(.discovery(address.text), clientID: "c", issuer: issuer)
                guard let document = try? DiscoveryDocument(bytes, from: address, of: service) else { continue }
                _ = try? document.named()
                guard let token = try? document.endpoints().token else { continue }
                precondition(issuer == nil || token.hasOrigin(of: address), "an endpoint of another server")
            }
            // The same bytes in a profile: what it takes, and what the helper makes of it.
            let text = String(decoding: bytes, as: UTF8.self)
            guard let metadata = OpenIDConfiguration(text) else { return }
            let service = OAuthService(.configuration(text), clientID: "c", issuer: metadata.issuer.text)
            guard let document = try? DiscoveryDocument(configured: Array(text.utf8), of: service) else { return }
            precondition(document.issuer == metadata.issuer.text, "two readers, two issuers")
            guard let token = try? document.endpoints().token, let issuer = EndpointURL(reading: document.issuer) else { return }
            precondition(token.hasOrigin(of: issuer), "an endpoint of another server")
        },
        FuzzTarget(name: "online-oamms-profile") { bytes in
            let oamms = OAMMSService("https://a.example:14100", serviceDomain: "d", application: "A")
            guard let setup = try? OAMMSSetup(bytes, of: oamms), let base = try? OAMMSSetup.base(oamms) else { return }
            for address in [setup.register, setup.authenticate, setup.access, setup.validate, setup.delete] {
                precondition(address?.hasOrigin(of: base) ?? true, "an address of another server")
            }
            precondition((try? JSON(parsing: Array(DeviceClaims.own.profile(setup.claims).utf8).span)) != nil, "no JSON")
        },
        // The first byte chooses a status, and what the request carried.
        FuzzTarget(name: "online-oamms-answer") { bytes in
            guard let first = bytes.first else { return }
            let answer = HTTPResponse(
                status: [200, 401, 404, 503][Int(first) % 4], headers: [:], body: Array(bytes.dropFirst()))
            let proofs = OAMMSAnswer.Proofs(
                hasPassword: first & 16 == 0, hasHandle: first & 32 == 0, hasAnswers: first & 64 == 0)
            guard case .asked(let challenge)? = try? OAMMSAnswer(answer, "USERTOKEN", proofs) else { return }
            let answers = SecretBytes(copying: challenge.questions.flatMap { _ in [UInt8(ascii: "a"), UInt8(ascii: "\n")] })
            guard let reply = try? challenge.reply(answers) else { preconditionFailure("no reply") }
            precondition(reply.withBytes { (try? JSON(parsing: $0)) != nil }, "no JSON")
        },
        FuzzTarget(name: "online-gate") { bytes in
            if let text = String(validating: bytes, as: UTF8.self) { _ = GateChallenge(text) }
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
