import Testing

@testable import OMVectors

@Suite("Vectors of signed tokens") struct JOSEFormTests {
    private static let key = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
    /// RFC 8037 appendix A.4.
    private static let token =
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

    private func wycheproof(_ type: String, _ members: String, _ test: String = token, _ result: String = "valid") -> String {
        #"{"schema":"json_web_key_schema_v1.json","numberOfTests":1,"testGroups":[{"type":"\#(type)","comment":"a",\#(members)"#
            + #""tests":[{"tcId":1,"comment":"","flags":[],"jws":"\#(test)","result":"\#(result)"}]}]}"#
    }

    @Test("Wycheproof's groups of a key and of a key set run, and what is not supported is skipped with its reason")
    func wycheproof() {
        for type in ["JsonWebSignature", "JsonWebKey", "JsonWebCrypto"] {
            for key in [Self.key, "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"},\(Self.key)]}"] {
                #expect(outcome(wycheproof(type, "\"public\":\(key),")) == passes(1))
                #expect(outcome(wycheproof(type, "\"public\":\(key),", Self.token + "A")) == oneFails)
                #expect(outcome(wycheproof(type, "\"public\":\(key),", Self.token + "A", "invalid")) == passes(1))
                #expect(outcome(wycheproof(type, "\"public\":\(key),", Self.token, "invalid")) == oneFails)
            }
            #expect(outcome(wycheproof(type, "\"private\":{\"kty\":\"oct\"},")) == skips(1))
        }
        // `{"alg":"RS384"}`, which is not supported: a valid case is skipped, and an invalid one is refused.
        let foreign = "eyJhbGciOiJSUzM4NCJ9" + Self.token.dropFirst(20)
        #expect(outcome(wycheproof("JsonWebSignature", "\"public\":\(Self.key),", foreign)) == skips(1))
        #expect(outcome(wycheproof("JsonWebSignature", "\"public\":\(Self.key),", foreign, "invalid")) == passes(1))
        #expect(outcome(wycheproof("JsonWebEncryption", "\"private\":{},")) == skips(1))
    }

    private func native(_ members: String, _ jwks: String = "{\\\"keys\\\":[]}", _ algorithms: String = "\"EdDSA\"") -> String {
        #"{"format":"omvault-vectors/1","kind":"jws","source":{"tool":"none"},"notes":{},"numberOfTests":1,"#
            + #""groups":[{"params":{"jwks":"\#(jwks)","algorithms":[\#(algorithms)]},"tests":[{"id":1,\#(members),"#
            + #""result":"valid","flags":[],"comment":""}]}]}"#
    }

    @Test("a native case has its token, its payload and its signer's key, and its payload must be the token's")
    func native() {
        let keys = "{\\\"keys\\\":[\(Self.key.replacing("\"", with: "\\\""))]}"
        let payload = "4578616d706c65206f662045643235353139207369676e696e67"
        func result(_ payload: String, _ algorithms: String = "\"EdDSA\"") -> String {
            outcome(native(#""jws":"\#(Self.token)","payload":\#(payload),"key":null"#, keys, algorithms))
        }
        #expect(result("\"\(payload)\"") == passes(1))
        #expect(result("\"00\"") == oneFails)
        #expect(result("\"\(payload)\"", "\"RS256\"") == oneFails)
        #expect(result("\"\(payload)\"", "\"RS384\"") == skips(1))
        #expect(outcome(native(#""jws":"a","payload":null"#)) == "file, groups 1, tests 1: key is missing")
    }
}
