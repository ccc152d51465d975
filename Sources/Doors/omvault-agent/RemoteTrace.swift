// What a look at a remote compares: the files that other devices wrote.

internal import OMAgent
internal import OMParcels
internal import OMSecrets

/// A value that differs if another device has written to a remote.
struct RemoteTrace {
    private let device: UInt32
    private var lines: [[UInt8]] = []

    init(of remote: RemoteDetails) { device = remote.device }

    /// Whether the file is another device's, and no message.
    func counts(_ file: RemoteFile) -> Bool {
        switch file {
        case .head(device, _), .heads(device), .pack(device, _), .message: false
        default: true
        }
    }

    /// - Parameter digest: Of a file that is written over.
    mutating func add(_ file: RemoteFile, digest: [UInt8]?) {
        if counts(file) { lines.append(Array(file.path.utf8) + [0] + (digest ?? [])) }
    }

    var digest: [UInt8] {
        PublicHash.hash(Array(lines.sorted { $0.lexicographicallyPrecedes($1) }.joined()))
    }
}
