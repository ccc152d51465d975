import OMSecrets
import Testing

@Suite struct SecretBytesTests {
    @Test("a secret lends exactly the bytes it was made from")
    func roundTrip() {
        let secret = SecretBytes(copying: Array("correct horse".utf8))
        #expect(secret.count == 13)
        #expect(secret.withBytes { bytes in bytes.indices.map { bytes[$0] } } == Array("correct horse".utf8))
    }
}
