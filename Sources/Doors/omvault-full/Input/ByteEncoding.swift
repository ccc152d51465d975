// The encodings of input and output bytes: raw, hex, base64.

internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// The value of an option such as `--salt-encoding`.
enum ByteEncoding: String, CaseIterable, ExpressibleByArgument {
    case raw, hex, base64

    /// - Throws: A usage ``Failure`` that names the option and does not repeat the bytes.
    func decode(_ bytes: consuming SecretBytes, of option: String) throws(Failure) -> SecretBytes {
        do throws(SecretsError) {
            switch self {
            case .raw: return bytes
            case .hex: return try Hex.decode(bytes)
            case .base64: return try Base64.decode(bytes)
            }
        } catch {
            throw Failure(usage: "\(option): the bytes are not strict \(rawValue)")
        }
    }

    func encode(_ secret: borrowing SecretBytes) -> SecretBytes {
        switch self {
        case .raw: secret.duplicate()
        case .hex: Hex.encode(secret)
        case .base64: Base64.encode(secret)
        }
    }
}

extension Output {
    /// Prints derived bytes: raw bytes as they are, any other encoding as one line.
    func bytes(_ bytes: consuming SecretBytes, as encoding: OutputEncoding) throws(Failure) {
        guard encoding != .raw else { return try writeSecret(bytes) }
        var line = SecretBuffer()
        line.append(encoding.encode(bytes))
        line.append(UInt8(ascii: "\n"))
        try writeSecret(line.finish())
    }
}

extension SecretBytes {
    /// A copy outside of locked memory, for bytes that are not secret, such as a salt.
    borrowing func publicBytes() -> [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

extension SecretSources {
    /// Reads bytes in an encoding. Raw bytes keep a newline at the end: it may be a byte of the key.
    borrowing func readBytes(
        _ option: String, prompt: String, _ encoding: ByteEncoding, maximum: Int = 1 << 20
    ) throws(Failure) -> SecretBytes {
        let room = encoding == .raw ? maximum : 2 * maximum + 4
        let secret = try read(option, prompt: prompt, keepNewline: encoding == .raw, maximum: room)
        do throws(SecretsError) {
            switch encoding {
            case .raw: return secret
            case .hex: return try Hex.decode(secret)
            case .base64: return try Base64.decode(secret)
            }
        } catch {
            throw Failure(.usage, "\(option) is not strict \(encoding.rawValue)", hint: "remove blanks and line breaks")
        }
    }
}
