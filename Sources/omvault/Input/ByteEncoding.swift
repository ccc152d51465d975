// Keys, IVs and the like as bytes: raw, hex or base64, strictly.

internal import ArgumentParser
internal import OMSecrets

enum ByteEncoding: String, CaseIterable, ExpressibleByArgument, Sendable {
    case raw, hex, base64

    func encode(_ secret: borrowing SecretBytes) -> SecretBytes {
        switch self {
        case .raw: secret.duplicate()
        case .base64: Base64.encode(secret)
        case .hex:
            secret.withBytes { bytes in
                let digits = Array("0123456789abcdef".utf8)
                return SecretBytes(count: bytes.count * 2) { target in
                    for index in bytes.indices {
                        target[2 * index] = digits[Int(bytes[index] >> 4)]
                        target[2 * index + 1] = digits[Int(bytes[index] & 15)]
                    }
                }
            }
        }
    }
}

extension SecretSources {
    /// Bytes as `encoding` says. Raw ones are taken as they are, a newline at the end included: it may be the key's.
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
            throw Failure(.usage, "\(option) is not strict \(encoding.rawValue)", hint: "no blanks, no line breaks")
        }
    }
}
