// age files and age's keys from unknown sources.

import OMCrypto
import OMSecrets

enum AgeTargets {
    static let all = [
        // The identity is always the same, so that libFuzzer's knowledge of the header stays useful.
        FuzzTarget(name: "age-file") { bytes in
            var used = min(bytes.count, AgeReader.startCount)
            let rest: ByteSource = { target in
                let count = min(target.count, bytes.count - used)
                for index in 0..<count { target[index] = bytes[used + index] }
                used += count
                return count
            }
            let reader = AgeReader(after: bytes.span.extracting(first: used))
            let source: ByteSource = { try reader.read(into: &$0, from: rest) }
            guard let file = try? AgeFile(from: source) else { return }
            _ = file.recipientTypes
            let opener: FileOpener?
            if file.opensWithPassword {
                // Only a password that costs almost nothing is tried.
                guard (file.passwordLogCost ?? .max) <= 10, let password = try? Password(secret("password")) else { return }
                opener = try? file.unlock(with: password)
            } else {
                opener = try? file.unlock(with: identities)
            }
            try? opener?.open(from: source) { _ in }
        },
        // A recipient that is read must be written as it was, and read again as the same.
        FuzzTarget(name: "age-keys") { bytes in
            let text = SecretBytes(copying: bytes)
            for recipient in (try? AgeRecipient.list(in: text)) ?? [] {
                precondition((try? AgeRecipient(recipient.text)) == recipient, "a recipient is written as another")
            }
            for identity in (try? AgeIdentity.list(in: text)) ?? [] {
                precondition((try? AgeRecipient(identity.recipient.text)) == identity.recipient, "a key is written as another")
            }
            guard let key = try? KeyFile(text).privateKey(), key.kind == .x25519 else { return }
            let again = try? KeyFile(key.unencryptedAgeIdentity()).privateKey().publicKey().spki()
            precondition(again == (try? key.publicKey().spki()), "an identity is written as another")
        },
    ]

    private static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    /// The testkit's identity.
    private static let identities = {
        let text = secret("AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0")
        guard let identities = try? AgeIdentity.list(in: text) else { fatalError("a valid identity") }
        return identities
    }()
}
