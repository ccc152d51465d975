import OMCrypto
import OMSecrets
import Testing

@Suite struct JWKTests {
    /// RFC 8037 appendix A.1.
    private let d = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
    private let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

    private func key(_ members: String) -> String { "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\(members)}" }

    @Test("RFC 8037's key is read, and so are the other members that an object may have")
    func readable() throws {
        for text in [
            key("\"d\":\"\(d)\",\"x\":\"\(x)\""), key("\"x\":\"\(x)\""),
            " \n{ \"x\" : \"\(x)\" , \"crv\" : \"Ed25519\",\t\"kty\":\"OKP\" }\r\n",
            key(
                "\"x\":\"\(x)\",\"kid\":\"a \\u00e9 \\\"\",\"key_ops\":[ \"verify\" , \"notarize\" ],\"a\":[\"verify\",[],{}],\"n1\":-1.5e3,\"b\":[true,null]"
            ),
        ] {
            #expect(problem(text) == nil, "\(text)")
        }
        let opened = try KeyFile(secret(key("\"d\":\"\(d)\",\"x\":\"\(x)\""))).privateKey()
        #expect(try opened.rawBytes().array() == Sample.seed)
        #expect(try opened.publicKey().jwk() == "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"\(x)\"}")
        for box in [Sample.rsa, Sample.p256] {
            let again = try KeyFile(box.key.unencryptedJWK()).privateKey()
            #expect(try again.unencryptedPKCS8().isEqual(to: box.key.unencryptedPKCS8()))
            let half = try KeyFile(secret(box.key.publicKey().jwk())).publicKey()
            #expect(try half.spki() == box.key.publicKey().spki())
        }
    }

    @Test("a malformed JWK is refused with its error")
    func malformed() throws {
        let broken = CryptoError.malformedKey(.jwk)
        let point = try Sample.p256.key.publicKey().jwk()
        let rsa = try Sample.rsa.key.publicKey().jwk()
        let pair = try Sample.rsa.key.unencryptedJWK().text()
        let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        let cases: [(String, CryptoError)] = [
            ("{}", broken), ("{", broken), ("{\"kty\":\"OKP\"", broken), ("{\"kty\":\"OKP\"}", broken),
            (key("\"x\":\"\(x)\"") + "x", broken), (key("\"x\":\"\(x)\"") + "{}", broken),
            (key("\"x\":\"\(x)\","), broken), (key("\"x\":\"\(x)\",\"x\":\"\(x)\""), broken),
            (key("\"x\":\"\(x)\",\"kty\":\"OKP\""), broken), (key("\"x\":\"\(x)=\""), broken),
            (key("\"x\":\"\(x.dropLast())\""), broken), (key("\"x\":\"\(x)A\""), broken),
            (key("\"x\":\"\(x.dropLast())p\""), broken), (key("\"x\":\"\(x.replacing("_", with: "/"))\""), broken),
            (key("\"x\":\" \(x)\""), broken), (key("\"x\":\"\""), broken), (key("\"x\":1"), broken),
            (key("\"x\":null"), broken), (key("\"x\":\"\(x)\",\"a\":01"), broken),
            (key("\"x\":\"\(x)\",\"a\":+1"), broken),
            (key("\"x\":\"\(x)\",\"a\":1."), broken), (key("\"x\":\"\(x)\",\"a\":tru"), broken),
            (key("\"x\":\"\(x)\",\"a\":\(deep)"), broken), (key("\"x\":\"\(x)\",\"a\":\"\\x\""), broken),
            (key("\"x\":\"\(x)\",\"a\":\"\\u12\""), broken), (key("\"x\":\"\(x)\",\"a\":\"\u{1}\""), broken),
            (key("\"x\":\"\(x)\",\"\\u0061\":1"), broken), (key("\"x\":\"\(x)\",\"a\":{\"b\":1,\"b\":2}"), broken),
            (key("\"x\":\"\(x)\",'a':1"), broken), (key("\"x\":\"\\u0031\(x.dropFirst())\""), broken),
            ("{\"crv\":\"Ed25519\",\"x\":\"\(x)\"}", broken), ("{\"kty\":\"OKP\",\"x\":\"\(x)\"}", broken),
            ("{\"kty\":\"oct\",\"k\":\"AAAA\"}", .unsupportedKey(.jwk)),
            ("{\"kty\":\"okp\",\"crv\":\"Ed25519\",\"x\":\"\(x)\"}", .unsupportedKey(.jwk)),
            ("{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"\(x)\"}", .unsupportedKey(.jwk)),
            (point.replacing("P-256", with: "secp256k1"), .unsupportedKey(.jwk)),
            (point.replacing("P-256", with: "P-384"), broken),
            (key("\"d\":\"\(d)\""), broken), (key("\"d\":\"\(x)\",\"x\":\"\(x)\""), .invalidKey),
            (key("\"d\":\"\(d.dropLast(2))\",\"x\":\"\(x)\""), broken),
            (rsa.replacing("\"e\":\"AQAB\"", with: "\"e\":\"AAEAAQ\""), broken),
            (rsa.replacing("\"e\":\"AQAB\"", with: "\"e\":\"\""), broken),
            (rsa.replacing("\"e\":\"AQAB\"", with: "\"e\":\"AQ\""), .invalidKey),
            (pair.replacing("\"qi\":", with: "\"qx\":"), .unsupportedKey(.jwk)),
            (pair.dropLast() + ",\"oth\":[]}", .unsupportedKey(.jwk)),
        ]
        #expect(cases.count >= 32)
        for (text, error) in cases { #expect(problem(text) == error, "\(text)") }
    }
}
