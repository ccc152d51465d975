import OMCrypto
import OMSecrets
import Testing

/// The texts of subjects and alternative names, and requests that are made of them.
@Suite struct SubjectTests {
    @Test("a subject is read as RFC 4514 writes it, and written in one form")
    func subjects() throws {
        let cases: [(String, String)] = [
            ("CN=ada", "CN=ada"), ("cn = ada , o = Example", "CN=ada,O=Example"), ("CN=a\\,b", "CN=a\\,b"),
            ("CN=a\\2cb", "CN=a\\,b"), ("CN=\\C3\\BC", "CN=ü"), ("CN=a=b", "CN=a=b"), ("CN=\\ a\\ ", "CN=\\ a\\ "),
            ("CN=  a b  ", "CN=a b"), ("CN=\\#a#", "CN=\\#a#"), ("CN=a\\\\", "CN=a\\\\"),
            ("EMAILADDRESS=a@b", "emailAddress=a@b"),
            ("UID=ada,DC=example,DC=org", "UID=ada,DC=example,DC=org"), ("CN=a\\+b\\\"\\<\\>\\;", "CN=a\\+b\\\"\\<\\>\\;"),
        ]
        for (text, written) in cases {
            let name = try DistinguishedName(text)
            #expect(name.text == written, "\(text)")
            #expect(try DistinguishedName(name.text) == name, "\(text)")
        }
        let name = try DistinguishedName("CN=a,O=b")
        #expect(name.attributes.map(\.type) == [.commonName, .organization] && name.attributes.map(\.value) == ["a", "b"])
    }

    @Test("a subject that another reader could read in another way is refused")
    func wrongSubjects() {
        let wrong = [
            "", " ", "ada", "CN", "CN=", "CN= ", "=ada", "CN=a,", ",CN=a", "CN=a,,O=b", "CN=a+O=b", "CN=#04016F", "CN=\"a\"",
            "CN=a;O=b",
            "CN=a\\", "CN=a\\g", "CN=a\\4", "CN=a\\00b", "CN=a\nb", "CN=a\\0Ab", "CN=\\FF", "CN=<a>", "X=a", "2.5.4.3=a", "/CN=a",
            "C N=a", "CN=" + String(repeating: "a", count: 1025), Array(repeating: "CN=a", count: 33).joined(separator: ","),
        ]
        for text in wrong { #expect(throws: CryptoError.invalidName, "\(text)") { try DistinguishedName(text) } }
    }

    @Test("an alternative name is one name, whatever is in it")
    func names() throws {
        let cases: [(String, SubjectName)] = [
            ("DNS:db.example.org", .dns("db.example.org")), ("dns:*.example.org", .dns("*.example.org")),
            ("IP:192.0.2.7", .ip([192, 0, 2, 7])), ("ip:::1", .ip([UInt8](repeating: 0, count: 15) + [1])),
            ("URI:spiffe://a/b", .uri("spiffe://a/b")), ("email:ada+x@example.org", .email("ada+x@example.org")),
        ]
        for (text, name) in cases {
            #expect(try SubjectName(text) == name)
            #expect(try SubjectName(name.text) == name)
        }
        let wrong = [
            "", "DNS", "DNS:", "db.example.org", "DNS:a,DNS:b", "DNS:a b", "DNS:a..b", "DNS:a.", "DNS:-a", "DNS:a-", "DNS:*",
            "DNS:a.*.b",
            "DNS:ü.example", "DNS:a\n", "DNS:a\0b", "DNS:" + String(repeating: "a", count: 64), "IP:192.0.2", "IP:192.0.2.7/24",
            "IP:1.2.3.4\0", "IP:01.2.3.4x", "URI:/a", "URI:a", "URI:https:", "URI:https://a b", "URI:https://a\"", "email:ada",
            "email:@a",
            "email:a@b@c", "email:a@", "email:<a@b>", "email:ü@b", "dirName:x", "otherName:1.2;UTF8:x", "RID:1.2",
        ]
        for text in wrong { #expect(throws: CryptoError.invalidName, "\(text)") { try SubjectName(text) } }
    }

    @Test("a key that does not sign makes no request, and no value is longer than its attribute allows")
    func requests() throws {
        let name = try DistinguishedName("CN=ada")
        #expect(throws: CryptoError.wrongKeyType) {
            try certificationRequest(PrivateKey.generate(.x25519), subject: name, names: [])
        }
        let key = try PrivateKey.generate(.ed25519)
        for text in ["C=DEU", "C=d\u{FC}", "CN=" + String(repeating: "a", count: 65)] {
            #expect(throws: CryptoError.invalidName, "\(text)") {
                try certificationRequest(key, subject: DistinguishedName(text), names: [])
            }
        }
        let request = try certificationRequest(key, subject: name, names: [.dns("a.example")])
        #expect(request.first == 0x30 && request.count > 100)
    }
}
