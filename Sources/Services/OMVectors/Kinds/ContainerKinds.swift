// File containers (docs/formats/file-format.md): golden ones that must open, and broken ones that must not.

internal import OMCrypto
internal import OMSecrets

/// A container and the key that opens it.
struct ContainerCheck: VectorCheck {
    enum Opener: Sendable {
        case password([UInt8])
        case key([UInt8])
        case privateKey([UInt8])
    }

    let opener: Opener
    let container: [UInt8]
    let message: Message

    enum Message: Sendable {
        case bytes([UInt8])
        /// The digest of a message that is too long for the file.
        case sha256([UInt8])

        func isWhole(_ opened: [UInt8]) -> Bool {
            switch self {
            case .bytes(let bytes): opened == bytes
            case .sha256(let digest): (try? Digest.of(opened, .sha256)) == digest
            }
        }

        func mayStart(with opened: [UInt8]) -> Bool {
            if case .bytes(let bytes) = self { bytes.starts(with: opened) } else { true }
        }
    }

    func run() -> CheckOutcome {
        var rest = container[...]
        let source: ByteSource = { target in
            let count = min(target.count, rest.count)
            for index in 0..<count { target[index] = rest[rest.startIndex + index] }
            rest = rest.dropFirst(count)
            return count
        }
        var opened: [UInt8] = []
        do {
            let file = try SealedFile(from: source)
            try unlocked(file).open(from: source) { opened += [UInt8](copying: $0) }
            return message.isWhole(opened) ? .agrees : .differs("the message is another")
        } catch {
            // The bytes that were returned before the error must be the beginning of the message.
            return message.mayStart(with: opened) ? .refused("\(error)") : .differs("wrong bytes before the refusal")
        }
    }

    private func unlocked(_ file: SealedFile) throws -> FileOpener {
        switch opener {
        case .password(let bytes): try file.unlock(with: Password(SecretBytes(copying: bytes)))
        case .key(let bytes): try file.unlock(with: Key<Deriving>(readFrom: SecretBytes(copying: bytes)))
        case .privateKey(let bytes):
            try file.unlock(with: X25519Identity(privateKey: SecretBytes(copying: bytes)))
        }
    }
}

enum ContainerKinds {
    static let all = [
        VectorKind.native(
            "file-container", params: ["lock"], test: ["password", "key", "private", "container", "msg", "msgSha256"]
        ) { (group) throws(UnreadableFile) in
            let lock = try group.parameters.text("lock")
            // X25519 overwrites five bits of a private key, so it is not flipped.
            let flips = ["container", "msg", "msgSha256"] + (lock == "public" ? [] : [lock])
            guard ["password", "key", "public"].contains(lock) else {
                throw group.parameters.wrong("lock", "password, key or public")
            }
            return .each(flips: flips) { (test, _) throws(UnreadableFile) in
                let opener: ContainerCheck.Opener =
                    switch lock {
                    case "password": .password(try test.bytes("password"))
                    case "key": .key(try test.bytes("key", count: 32))
                    default: .privateKey(try test.bytes("private", count: 32))
                    }
                let message: ContainerCheck.Message =
                    test.has("msg") ? .bytes(try test.bytes("msg")) : .sha256(try test.bytes("msgSha256", count: 32))
                return .run(
                    ContainerCheck(opener: opener, container: try test.bytes("container"), message: message))
            }
        }
    ]
}
