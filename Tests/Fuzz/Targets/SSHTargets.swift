// Messages of SSH programs, and of machines to which an ssh-agent is forwarded.

import OMCrypto

enum SSHTargets {
    private static let key: [UInt8] =
        [0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [0, 0, 0, 32] + [UInt8](repeating: 3, count: 32)

    static let all = [
        // A request for a signature is read down to what is signed, and a binding down to its signature.
        FuzzTarget(name: "ssh-agent") { bytes in
            switch SSHAgentMessage(bytes) {
            case .sign(let key, let data, let flags):
                guard let algorithm = SSHSignature.algorithm(forKey: key, flags: flags) else { return }
                precondition(algorithm != "ssh-rsa", "a signature with SHA-1")
                _ = SSHSignedData(data, key: key, algorithm: algorithm)
            case .bind(let binding):
                var bindings = SSHBindings()
                _ = bindings.add(binding)
            default: break
            }
        },
        FuzzTarget(name: "ssh-signed") { bytes in
            guard SSHSignedData(bytes, key: key, algorithm: "ssh-ed25519") != nil else { return }
            precondition(!bytes.starts(with: Array("eyJ".utf8)), "a token")
            precondition(SSHSignedData(bytes + [0], key: key, algorithm: "ssh-ed25519") == nil, "two ends")
        },
    ]
}
