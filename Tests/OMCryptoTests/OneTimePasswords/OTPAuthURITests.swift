import OMCrypto
import OMSecrets
import Testing

@Suite("otpauth URIs") struct OTPAuthURITests {
    /// What a URI says, as plain values.
    private struct Facts: Hashable {
        var secret = "Hello!\u{DE}\u{AD}\u{BE}\u{EF}"
        var issuer: String?
        var account = ""
        var hash = OneTimePassword.Hash.sha1
        var digits = 6
        var factor = OneTimePassword.Factor.time(period: 30)
    }

    private static func text(_ secret: borrowing SecretBytes) -> String { String(decoding: bytes(secret), as: UTF8.self) }

    private static func facts(_ uri: borrowing OTPAuthURI) -> Facts {
        var facts = Facts()
        facts.secret = uri.password.secret.withBytes { bytes in
            String(String.UnicodeScalarView(bytes.indices.map { Unicode.Scalar(bytes[$0]) }))
        }
        switch uri.issuer {
        case .some(let issuer): facts.issuer = text(issuer)
        case .none: break
        }
        facts.account = text(uri.account)
        (facts.hash, facts.digits, facts.factor) = (uri.password.hash, uri.password.digits, uri.password.factor)
        return facts
    }

    private func read(_ text: String) throws -> Facts {
        let uri = try OTPAuthURI(readingURIOrSecret: secret(text.utf8))
        return Self.facts(uri)
    }

    private func refusal(_ text: String) -> OneTimePasswordError? {
        do throws(OneTimePasswordError) {
            _ = try OTPAuthURI(readingURIOrSecret: secret(text.utf8))
            return nil
        } catch { return error }
    }

    @Test("the format's own example is read")
    func example() throws {
        let facts = try read(
            "otpauth://totp/ACME%20Co:john.doe@email.com?secret=JBSWY3DPEHPK3PXP&issuer=ACME%20Co&algorithm=SHA1&digits=6&period=30"
        )
        #expect(facts == Facts(issuer: "ACME Co", account: "john.doe@email.com"))
    }

    @Test("what a URI leaves out has the usual value")
    func defaults() throws {
        #expect(try read("otpauth://totp/?secret=JBSWY3DPEHPK3PXP") == Facts())
        #expect(try read("otpauth://totp/ada?secret=JBSWY3DPEHPK3PXP") == Facts(account: "ada"))
        #expect(try read("otpauth://totp/X%3A%20%20ada?secret=JBSWY3DPEHPK3PXP") == Facts(issuer: "X", account: "ada"))
        #expect(try read("otpauth://hotp/ada?secret=JBSWY3DPEHPK3PXP&counter=0") == Facts(account: "ada", factor: .counter(0)))
    }

    @Test("every setting is read, and parameters that no app knows are ignored")
    func settings() throws {
        let facts = try read(
            "OTPAUTH://HOTP/a?image=x%2Fy&counter=18446744073709551615&digits=8&algorithm=sha512&secret=JBSWY3DPEHPK3PXP&period=x"
        )
        #expect(facts == Facts(account: "a", hash: .sha512, digits: 8, factor: .counter(.max)))
        let timed = try read("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=7&period=60&counter=x")
        #expect(timed == Facts(account: "a", hash: .sha256, digits: 7, factor: .time(period: 60)))
        // The parameter counts, not the label, and a plus is a plus.
        #expect(try read("otpauth://totp/X:a+b?issuer=Y&secret=JBSWY3DPEHPK3PXP") == Facts(issuer: "Y", account: "a+b"))
        #expect(try read("otpauth://totp/%C3%A9?secret=JBSWY3DPEHPK3PXP").account == "é")
    }

    @Test(
        "a secret is read as sites show it",
        arguments: [
            "JBSWY3DPEHPK3PXP", "jbswy3dpehpk3pxp", "JBSW Y3DP EHPK 3PXP", "jbsw-y3dp-ehpk-3pxp",
            "otpauth://totp/?secret=jbswy3dpehpk3pxp", "otpauth://totp/?secret=JBSW%20Y3DP%20EHPK%203PXP",
        ])
    func spellings(text: String) throws { #expect(try read(text) == Facts()) }

    @Test("padding is optional, and right if it is there")
    func padding() throws {
        for text in ["MZXW6YQ", "MZXW6YQ=", "otpauth://totp/?secret=MZXW6YQ%3D", "otpauth://totp/?secret=MZXW6YQ="] {
            #expect(try read(text).secret == "foob")
        }
        for text in ["MZXW6YQ==", "MZXW6Y=Q", "=MZXW6YQ", "MZXW6Y", "MZXW6YR", "MZXW6Y1", "MZXW6YQ\n", "ｍZXW6YQ"] {
            #expect(refusal(text) == .secretNotBase32, "\(text)")
        }
        #expect(refusal("") == .emptySecret && refusal("- -") == .emptySecret)
    }

    private static let start = "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP"

    @Test(
        "a URI that the format does not have is refused with the reason",
        arguments: [
            ("https://example.org", .notAURI), ("otpauth:totp/a?secret=JBSWY3DPEHPK3PXP", .notAURI), (":", .notAURI),
            (" " + start, .notAURI), ("otpauth-migration://offline?data=x", .notAURI),
            ("otpauth://steam/a?secret=JBSWY3DPEHPK3PXP", .unknownType), ("otpauth://totp?secret=JBSWY3DPEHPK3PXP", .unknownType),
            ("otpauth://totpx/a?secret=JBSWY3DPEHPK3PXP", .unknownType), ("otpauth://", .unknownType),
            ("otpauth:///a?secret=JBSWY3DPEHPK3PXP", .unknownType),
            ("otpauth://totp/a", .missing(.secret)), ("otpauth://totp/a?issuer=x", .missing(.secret)),
            ("otpauth://totp/a?Secret=JBSWY3DPEHPK3PXP", .missing(.secret)),
            ("otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP", .missing(.counter)),
            ("otpauth://totp/a?", .malformed), (start + "&", .malformed), (start + "&&issuer=x", .malformed),
            (start + "&issuer", .malformed), (start + "&=x", .malformed), (start + "#x", .malformed),
            (start + "&issuer=%", .malformed), (start + "&issuer=%4", .malformed), (start + "&issuer=%4G", .malformed),
            (start + "&issuer=a b", .malformed), (start + "\n", .malformed), (start + "&issuer=a\u{7F}", .malformed),
            ("otpauth://totp/%?secret=JBSWY3DPEHPK3PXP", .malformed),
            (start + "&secret=JBSWY3DPEHPK3PXP", .doubled(.secret)), (start + "&digits=6&digits=6", .doubled(.digits)),
            (start + "&counter=1&counter=2", .doubled(.counter)), (start + "&issuer=a&issuer=a", .doubled(.issuer)),
            ("otpauth://totp/a?secret=JBSWY3DPEHPK3PX0", .secretNotBase32),
            ("otpauth://totp/a?secret=JBSWY3DPEHPK3PX", .secretNotBase32),
            ("otpauth://totp/a?secret=", .emptySecret),
            (start + "&algorithm=MD5", .unknownHash), (start + "&algorithm=", .unknownHash),
            (start + "&algorithm=SHA1x", .unknownHash),
            (start + "&digits=5", .digitsOutOfRange), (start + "&digits=9", .digitsOutOfRange),
            (start + "&digits=", .digitsOutOfRange),
            (start + "&digits=+6", .digitsOutOfRange), (start + "&digits=6.0", .digitsOutOfRange),
            (start + "&digits=18446744073709551622", .digitsOutOfRange),
            (start + "&period=0", .periodOutOfRange), (start + "&period=86401", .periodOutOfRange),
            (start + "&period=-30", .periodOutOfRange),
            ("otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=18446744073709551616", .counterOutOfRange),
            ("otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=-1", .counterOutOfRange),
            ("otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=", .counterOutOfRange),
            ("otpauth://totp/%00?secret=JBSWY3DPEHPK3PXP", .unusableLabel), (start + "&issuer=%1B", .unusableLabel),
            (start + "&issuer=%FF", .unusableLabel),
            (start + "&issuer=" + String(repeating: "a", count: 16 << 10), .tooLong),
        ] as [(String, OneTimePasswordError)])
    func malformed(text: String, error: OneTimePasswordError) {
        #expect(refusal(text) == error, "\(text.prefix(80))")
    }

    @Test("a URI that was cut anywhere is refused, or has lost whole parameters")
    func cut() throws {
        let whole = "otpauth://hotp/ACME:ada?secret=JBSWY3DPEHPK3PXP&counter=12345"
        for count in "otpauth:".count..<whole.utf8.count {
            guard let facts = try? read(String(whole.prefix(count))) else { continue }
            #expect(facts.secret == Facts().secret && count > whole.utf8.count - 5)
        }
    }

    @Test("a URI is written as the format's example is, and read again")
    func writing() throws {
        let uri = try OTPAuthURI(
            of: OneTimePassword(secret: try OTPAuthURI(reading: secret(Self.start.utf8)).password.secret.duplicate()),
            issuer: secret("ACME Co".utf8), account: secret("john.doe@email.com".utf8))
        let text = Self.text(uri.text())
        #expect(
            text
                == "otpauth://totp/ACME%20Co:john.doe@email.com?secret=JBSWY3DPEHPK3PXP&issuer=ACME%20Co&algorithm=SHA1&digits=6&period=30"
        )
        let password = try OneTimePassword(secret: secret([0xFF]), hash: .sha512, digits: 8, factor: .counter(7))
        let odd = try OTPAuthURI(of: password, issuer: nil, account: secret("é?&#%/ +=".utf8))
        #expect(
            Self.text(odd.text())
                == "otpauth://hotp/%C3%A9%3F%26%23%25%2F%20%2B%3D?secret=74&algorithm=SHA512&digits=8&counter=7")
        #expect(try read(Self.text(odd.text())) == Self.facts(odd))
    }

    @Test("names with a colon or without text are not written", arguments: ["a:b", "a\n", "\u{1B}", "a\u{7F}"])
    func unusableNames(name: String) {
        func refusal(issuer: String, account: String) -> OneTimePasswordError? {
            do throws(OneTimePasswordError) {
                _ = try OTPAuthURI(
                    of: OneTimePassword(secret: secret([1])), issuer: secret(issuer.utf8), account: secret(account.utf8))
                return nil
            } catch { return error }
        }
        #expect(refusal(issuer: name, account: "a") == .unusableLabel)
        #expect(refusal(issuer: "a", account: name) == .unusableLabel)
        #expect(refusal(issuer: "a", account: "") == nil)
    }

    @Test("another counter changes nothing else")
    func counter() throws {
        let stored = "OTPauth://hotp/A:b%20?x=%zz&counter=9&secret=jbswy3dpehpk3pxp&image=i"
        let next = try OTPAuthURI.replacingCounter(of: secret(stored.utf8), with: 10)
        #expect(Self.text(next) == "OTPauth://hotp/A:b%20?x=%zz&counter=10&secret=jbswy3dpehpk3pxp&image=i")
        #expect(throws: OneTimePasswordError.missing(.counter)) {
            _ = try OTPAuthURI.replacingCounter(of: secret(Self.start.utf8), with: 1)
        }
    }
}
