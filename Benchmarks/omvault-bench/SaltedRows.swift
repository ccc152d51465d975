// Checks of stored hashes per second, compared with two ways in Python.

internal import OMCrypto
internal import OMSecrets

enum SaltedRows {
    static func all(_ options: Options) -> [Row] {
        [
            row(options, "hashlib", "sha512(password + salt).digest() == digest", setUp: ""),
            row(
                options, "passlib", "ldap_salted_sha512.verify(password, stored)",
                setUp: "from passlib.hash import ldap_salted_sha512; stored = ldap_salted_sha512.hash(password)"),
        ]
    }

    private static func row(_ options: Options, _ label: String, _ check: String, setUp: String) -> Row {
        Row(
            name: "salted SHA-512 checks, beside \(label)", unit: .rate(""), asked: .atLeast(1e6),
            ours: .init(label: "StoredHash.matches") { () throws(BenchError) in try ours() },
            peer: .init(label: label) { () throws(BenchError) in
                let folder = try TemporaryFolder()
                defer { folder.remove() }
                let script = """
                    from time import process_time
                    from hashlib import sha512
                    password, salt = b'correct horse', bytes(8)
                    digest = sha512(password + salt).digest()
                    \(setUp)
                    count, start = 0, process_time()
                    while process_time() - start < 0.5:
                        for _ in range(1000): \(check)
                        count += 1000
                    print(count / (process_time() - start))
                    """
                let text = try Program(path: options.python).output(["-c", script], in: folder)
                guard let rate = Double(text.prefix { !$0.isNewline }) else {
                    throw BenchError("\(label) printed no rate")
                }
                return rate
            })
    }

    private static func ours() throws(BenchError) -> Double {
        let password = SecretBytes(copying: Array("correct horse".utf8))
        do {
            let written = try SaltedHash.string(of: password, algorithm: .sha512, saltHex: "0011223344556677")
            let stored = try StoredHash(
                parsing: written.withBytes { bytes in
                    String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                })
            return try Clock.rate(each: 1) { () throws(BenchError) in
                guard (try? stored.matches(password)) == true else { throw BenchError("the hash does not match") }
            }
        } catch let error as BenchError {
            throw error
        } catch {
            throw BenchError("no SHA-512")
        }
    }
}
