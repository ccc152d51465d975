// What a folder's helper and its caller say to each other: docs/formats/sync.md, "The folder's helper".

import OMParcels

@testable import OMAgent

enum FolderTargets {
    static let all = [
        FuzzTarget(name: "folder-request") { bytes in
            guard let request = try? FolderRequest(decoding: bytes) else { return }
            precondition(request.encoded == bytes, "a request is written as it was read")
        },
        // The first byte chooses the request that is answered.
        FuzzTarget(name: "folder-reply") { bytes in
            let head = RemoteFile.head(device: 1, isSecond: false)
            let requests: [FolderRequest] = [.files, .bytes(head), .remove(head), .write([1], head), .found([1])]
            guard let first = bytes.first else { return }
            let request = requests[Int(first) % requests.count]
            let message = Array(bytes.dropFirst())
            guard let reply = try? FolderReply(decoding: message, to: request) else { return }
            precondition(reply.encoded == message, "an answer is written as it was read")
            precondition(message.count <= request.maximumReply, "no answer is longer than its limit")
        },
    ]
}
