// Argon2id at 64 MiB, 3 passes, 1 lane: ours, libsodium's own call, and the reference program.

internal import CSodium
internal import OMSecrets

enum StretchRows {
    static func all(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        let ours = Row.Side(label: "Argon2id.stretch") { () throws(BenchError) in try stretch() }
        return [
            Row(
                name: "Argon2id 64 MiB, t=3, p=1", unit: .time, asked: .ratio(1.1), ours: ours,
                peer: .init(label: "libsodium") { () throws(BenchError) in try libsodium() }),
            Row(
                name: "Argon2id beside the program", unit: .time, asked: .ratio(1.1), ours: ours,
                peer: .init(label: "argon2") { () throws(BenchError) in
                    let input = try folder.write("argon2-password", Array("correct horse".utf8))
                    return try Program(path: options.argon2, input: input).time(
                        ["0123456789abcdef", "-id", "-t", "3", "-k", "65536", "-p", "1", "-l", "32", "-r"])
                }),
        ]
    }

    /// The seconds of one stretch with the bedrock's Argon2id, as in every unlock.
    static func stretch() throws(BenchError) -> Double {
        let password = SecretBytes(copying: Array("correct horse battery staple".utf8))
        let salt = [UInt8](repeating: 7, count: Argon2id.saltCount)
        return try Clock.seconds { () throws(BenchError) in
            do { _ = try Argon2id.stretch(password, salt: salt, .standard) } catch {
                throw BenchError("no memory for Argon2id")
            }
        }
    }

    private static func libsodium() throws(BenchError) -> Double {
        let (password, salt) = ("correct horse battery staple", [UInt8](repeating: 7, count: 16))
        var key = [UInt8](repeating: 0, count: 32)
        return try Clock.seconds { () throws(BenchError) in
            let status = crypto_pwhash(
                &key, 32, password, UInt64(password.utf8.count), salt, 3, 64 << 20, crypto_pwhash_ALG_ARGON2ID13)
            guard status == 0 else { throw BenchError("no memory for Argon2id") }
        }
    }
}
