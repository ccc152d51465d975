// Proofs of a key to which tokens are bound: the examples of RFC 9449.

import OMSecrets
import TestSupport
import Testing

@testable import OMCrypto

@Suite("Proofs of a token's key") struct DPoPProofTests {
    /// RFC 9449, 4.1.
    private static let key =
        #"{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256"}"#
    private static let published =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFV"
        + "ZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0"
        + "VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6"
        + "T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
    private func part(_ token: String, _ index: Int) throws -> String {
        let bytes = Array(token.split(separator: ".")[index].utf8)
        return try Base64URL.decode(bytes.span).text()
    }

    @Test("the claims are those of the RFC's examples, byte for byte, and its proof verifies with its key")
    func examples() throws {
        let token = DPoPProof(method: "POST", address: "https://server.example.com/token")
        #expect(try token.claims(id: "-BwC3ESc6acc2lTc", now: 1_562_262_616) == part(Self.published, 1))
        let hash = try Digest.of(Array("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU".utf8), .sha256)
        let resource = DPoPProof(
            method: "GET", address: "https://resource.example.org/protectedresource?a=/b#c", tokenHash: hash)
        #expect(
            resource.claims(id: "e1j3V_bKic8-LAEB", now: 1_562_262_618)
                == #"{"jti":"e1j3V_bKic8-LAEB","htm":"GET","htu":"https://resource.example.org/protectedresource","#
                + #""iat":1562262618,"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}"#)
        let key = try KeyFile(SecretBytes(copying: Array(Self.key.utf8))).publicKey()
        #expect(try key.jwkThumbprint() == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        let verified = outcome(Self.published, try keySet(Self.key), allowing: [.es256])
        #expect(try verified.get() == part(Self.published, 1))
    }

    @Test("a proof has the public key alone in its header, another jti each time, the nonce, and no query")
    func signed() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let proof = DPoPProof(method: "GET", address: "https://a.example//api?x=1", nonce: "n.\u{7E}1")
        let first = try proof.signed(by: key, now: 7).text()
        let second = try proof.signed(by: key, now: 7).text()
        #expect(try part(first, 0) == "{\"alg\":\"ES256\",\"typ\":\"dpop+jwt\",\"jwk\":\(key.publicKey().jwk())}")
        let claims = try part(first, 1)
        #expect(claims.hasSuffix(#""htm":"GET","htu":"https://a.example//api","iat":7,"nonce":"n.~1"}"#))
        #expect(try part(second, 1) != claims && claims.utf8.count == part(second, 1).utf8.count)
    }
}
