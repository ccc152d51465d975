// What a server's helper and its caller say to each other, and the list of a server: docs/formats/sync.md, "The server's helper".

import OMParcels
import OMSecrets

@testable import OMAgent

enum ServerTargets {
    static let all = [
        FuzzTarget(name: "server-request") { bytes in
            guard let request = try? ServerHelperRequest(decoding: bytes) else { return }
            precondition(plain(request.encoded, request.secretMessage) == bytes, "a request is written as it was read")
        },
        // The first byte chooses the request that is answered.
        FuzzTarget(name: "server-reply") { bytes in
            let head = RemoteFile.head(device: 1, isSecond: false)
            let token = HeldSecret(SecretBytes(copying: [65]))
            let requests: [ServerHelperRequest] = [
                .files(.any), .files(.other(than: 1)), .bytes(head), .write([1], head), .remotes, .refresh(token),
            ]
            guard let first = bytes.first else { return }
            let request = requests[Int(first) % requests.count]
            let message = Array(bytes.dropFirst())
            guard let reply = try? ServerHelperReply(decoding: message.span, to: request) else { return }
            precondition(plain(reply.encoded, reply.secretMessage) == message, "an answer is written as it was read")
            precondition(message.count <= request.maximumReply, "no answer is longer than its limit")
        },
        FuzzTarget(name: "server-list") { bytes in
            guard let listing = try? ServerListing(decoding: bytes) else { return }
            precondition(listing.encoded == bytes, "a list is written as it was read")
        },
    ]

    private static func plain(_ message: [UInt8]?, _ secret: consuming SecretBytes?) -> [UInt8] {
        switch consume secret {
        case .some(let secret): secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        case .none: message ?? []
        }
    }
}
