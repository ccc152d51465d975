// Containers, and the Android SDK's names in braces, from unknown senders.

import OMCrypto
import OMSecrets

enum SymmetricTargets {
    static let all = [
        FuzzTarget(name: "container") { bytes in
            // The key is always the same, so that libFuzzer's knowledge of the header stays useful.
            var rest = bytes[...]
            let source: ByteSource = { target in
                let count = min(target.count, rest.count)
                for index in 0..<count { target[index] = rest[rest.startIndex + index] }
                rest = rest.dropFirst(count)
                return count
            }
            guard let file = try? SealedFile(from: source) else { return }
            guard let key = try? Key<Deriving>(readFrom: SecretBytes(copying: [UInt8](repeating: 7, count: 32))) else {
                return
            }
            let opener = try? file.unlock(with: key)
            try? opener?.open(from: source) { _ in }
        },
        FuzzTarget(name: "transformation") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            _ = try? Transformation.split(text)
        },
    ]
}
