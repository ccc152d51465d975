// Answers at the redirect address of a login, claims about a user, and device codes.

import NIOHTTP1
import OMCrypto
import OMOnlineModel
import OMSecrets

@testable import OMOnline

enum BrowserTargets {
    static let all = [
        // The target of a request, and a pasted text. Whatever it is, an answer needs the state.
        FuzzTarget(name: "online-redirect") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            for isPasted in [false, true] {
                let rules = RedirectRules(state: "the-state", issuer: "https://a.example", needsIssuer: false)
                guard let address = try? RedirectAddress("http://127.0.0.1/cb", port: 8400) else { fatalError("no address") }
                rules.expect(address)
                let outcome =
                    isPasted
                    ? rules.pasted(SecretBytes(copying: bytes))
                    : rules.request(isGet: true, target: text, hosts: ["127.0.0.1:8400"], hasBody: false)
                guard case .answer(let answer) = outcome else { continue }
                guard case .code(let code) = answer else { continue }
                precondition(!code.isEmpty && code.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "an odd code")
            }
            // The same for a token: in the fragment that the page posts, and in a pasted one.
            for isPasted in [false, true] {
                let rules = RedirectRules(state: "the-state", issuer: "https://a.example", needsIssuer: false, awaitsToken: true)
                guard let address = try? RedirectAddress("http://127.0.0.1/cb", port: 8400) else { fatalError("no address") }
                rules.expect(address)
                let request = LoopbackRequest(
                    isGet: false, target: "/cb", hosts: ["127.0.0.1:8400"], hasBody: true, mode: nil, port: 8400,
                    user: { nil }, isPost: true, body: bytes)
                let outcome = isPasted ? rules.pasted(SecretBytes(copying: bytes)) : rules.posted(request)
                guard case .answer(.token(let said)) = outcome else { continue }
                precondition(!said.access.isEmpty && said.refresh == nil, "an odd token")
                precondition(said.access.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "an odd token")
            }
            // An address that can be shown is the same after it is read again.
            if let shown = ShownAddress(text) { precondition(ShownAddress(shown.text) == shown, "an address with two readings") }
            if let redirect = try? RedirectAddress(text) { precondition(redirect.text == text, "another redirect address") }
        },
        // The claims of a token with a right signature.
        FuzzTarget(name: "online-id-token") { bytes in
            guard let token = try? JWS.sign(bytes, JWSHeader(.edDSA), with: TokenTargets.key),
                let key = try? TokenTargets.key.publicKey(),
                let parsed = try? JWS(token), let verified = try? parsed.verified(by: key, as: .edDSA)
            else { return }
            let expected = IDToken.Expected(
                issuer: "https://i.example", client: "c", nonce: "n", access: "at", maximumAge: nil, subject: nil)
            guard let claims = try? IDToken(verified, expected, now: 1_000) else { return }
            precondition(UserClaims.isUsable(claims.subject), "a subject that cannot be shown")
            for claim in [nil, "email", "login"] {
                guard let name = try? claims.claims.name(claim) else { continue }
                precondition(name.utf8.count <= NamedUser.longest && !name.utf8.contains { $0 < 0x20 }, "an odd name")
            }
        },
        // The first byte chooses a status and the kind of answer.
        FuzzTarget(name: "online-device") { bytes in
            guard let first = bytes.first else { return }
            let answer = HTTPResponse(
                status: [200, 400, 401, 429][Int(first) % 4], headers: [:], body: Array(bytes.dropFirst()))
            guard first < 128 else {
                _ = try? DeviceAnswer(answer)
                _ = try? PushedRequest(answer)
                return
            }
            guard let code = try? DeviceAuthorization(answer) else { return }
            precondition((1...DeviceAuthorization.longestLife).contains(code.life) && code.interval > 0, "an odd time")
            guard case .enter(let text, _, _, _) = code.step else { return }
            precondition(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a code that cannot be shown")
            var polling = DevicePolling(code, now: .zero), now = Duration.zero, questions = 0
            while let wait = try? polling.wait(now: now) {
                now += wait
                questions += 1
                if questions % 2 == 0 { polling.slowDown() } else { polling.backOff() }
            }
            precondition(questions < 2_000, "questions without end")
        },
    ]
}
