import Foundation
import OMCrypto
import OMSecrets
import TestSupport
import Testing

@Suite("Signed tokens and jwcrypto") struct JWSInteropTests {
    /// What the other program says.
    private struct Theirs: Decodable {
        let keys: JWKs
        let tokens, thumbprints, ours: [String: String]
    }

    private struct JWKs: Codable { let keys: [[String: String]] }

    /// Reads our keys and tokens by algorithm, verifies each token, and makes the same of its own.
    private static let script = """
        import json, sys
        from jwcrypto import jwk, jws
        given = json.load(open("ours.json"))
        kinds = {"RS256": dict(kty="RSA", size=2048), "PS256": dict(kty="RSA", size=2048),
                 "ES256": dict(kty="EC", crv="P-256"), "ES384": dict(kty="EC", crv="P-384"),
                 "EdDSA": dict(kty="OKP", crv="Ed25519")}
        said = {"tokens": {}, "thumbprints": {}, "ours": {}}
        keys = jwk.JWKSet()
        ours = jwk.JWKSet.from_json(json.dumps(given["keys"]))
        for name, kind in kinds.items():
            key = jwk.JWK.generate(kid="their-" + name, **kind)
            keys.add(key)
            token = jws.JWS("from jwcrypto, " + name)
            token.add_signature(key, None, json.dumps({"alg": name, "kid": "their-" + name, "typ": "JWT"}))
            said["tokens"][name] = token.serialize(compact=True)
            said["thumbprints"][name] = key.thumbprint()
            read = jws.JWS()
            read.allowed_algs = [name]
            read.deserialize(given["tokens"][name], ours.get_key("our-" + name))
            assert read.jose_header["typ"] == "dpop+jwt", read.jose_header
            assert jwk.JWK(**read.jose_header["jwk"]).thumbprint() == ours.get_key("our-" + name).thumbprint()
            said["ours"][name] = read.payload.decode() + " " + ours.get_key("our-" + name).thumbprint()
        said["keys"] = json.loads(keys.export(private_keys=False))
        print(json.dumps(said))
        """

    @Test("jwcrypto verifies a token of each algorithm that is made here, and a token of jwcrypto is verified here")
    func bothWays() async throws {
        let folder = try TestFolder()
        var ours: [[String: String]] = [], tokens: [String: String] = [:]
        for (algorithm, box) in TokenKey.all {
            let name = algorithm.rawValue
            let key = try JSONDecoder().decode([String: String].self, from: Data(box.key.publicKey().jwk().utf8))
            ours.append(key.merging(["kid": "our-\(name)", "alg": name]) { $1 })
            let header = JWSHeader(algorithm, keyID: "our-\(name)", type: "dpop+jwt")
            tokens[name] = try JWS.sign(Array("from here, \(name)".utf8), header, with: box.key, embedsKey: true).text()
        }
        struct Given: Encodable {
            let keys: JWKs
            let tokens: [String: String]
        }
        let given = try JSONEncoder().encode(Given(keys: JWKs(keys: ours), tokens: tokens))
        try given.write(to: URL(filePath: folder.path + "/ours.json"))
        let ran = try await run(["/usr/bin/python3", "-W", "ignore", "-c", Self.script], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let theirs = try JSONDecoder().decode(Theirs.self, from: Data(ran.output.utf8))

        let keys = try JWKSet(Array(JSONEncoder().encode(theirs.keys)))
        #expect(keys.count == JWSAlgorithm.allCases.count)
        for (algorithm, box) in TokenKey.all {
            let name = algorithm.rawValue
            #expect(try theirs.ours[name] == "from here, \(name) \(box.key.publicKey().jwkThumbprint())")
            let token = try #require(theirs.tokens[name])
            #expect(outcome(token, keys, allowing: [algorithm]) == .success("from jwcrypto, \(name)"), "\(name)")
            #expect(try JWS(secret(token)).header == JWSHeader(algorithm, keyID: "their-\(name)", type: "JWT"))
            let key = try #require(theirs.keys.keys.first { $0["kid"] == "their-\(name)" })
            let read = try KeyFile(secret(Array(JSONEncoder().encode(key)))).publicKey()
            #expect(try read.jwkThumbprint() == theirs.thumbprints[name])
        }
    }
}
