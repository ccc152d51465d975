// Reads files piece by piece, so that they can have any size. The pieces may be passwords, so they are locked and wiped.

internal import Glibc
internal import OMSecrets
internal import OMShell

enum FilePieces {
    /// The longest line that ``readLines(_:_:)`` accepts.
    private static let longestLine = 16 << 20

    /// Passes a file to `body` piece by piece. `-` is standard input.
    static func read(_ file: String, _ body: (Span<UInt8>) throws -> Void) throws {
        let descriptor = try open(file)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var piece = SecretBuffer(capacity: pieceCount)
        while try fill(&piece, from: descriptor, file) {
            try piece.withBytes(body)
            piece.removeAll()
        }
    }

    /// Passes a file to `body` in blocks of whole lines. The last line may have no newline.
    static func readLines(_ file: String, _ body: (Span<UInt8>) throws -> Void) throws {
        let descriptor = try open(file)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var block = SecretBuffer(capacity: pieceCount)
        while try fill(&block, from: descriptor, file) {
            let whole = block.withBytes { bytes in
                bytes.indices.reversed().first { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
            }
            guard let whole else {
                guard block.count <= longestLine else {
                    throw Failure(usage: "\"\(file)\" has a line of more than \(longestLine) bytes")
                }
                continue
            }
            var rest = SecretBuffer(capacity: pieceCount)
            try block.withBytes { bytes in
                try body(bytes.extracting(0..<whole))
                rest.append(bytes.extracting(whole...))
            }
            block = rest
        }
        if block.count > 0 { try block.withBytes(body) }
    }

    private static let pieceCount = 64 << 10

    private static func open(_ file: String) throws(Failure) -> Int32 {
        guard !StandardInput.isMeant(by: file) else {
            try StandardInput.claim()
            return STDIN_FILENO
        }
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(.io, "cannot open \"\(file)\"", errno: errno) }
        return descriptor
    }

    /// Appends the bytes of one read. False at the end of the file.
    private static func fill(
        _ buffer: inout SecretBuffer, from descriptor: Int32, _ file: String
    ) throws(Failure) -> Bool {
        while true {
            var count = 0
            buffer.append(upTo: pieceCount) { free in
                count = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                return max(count, 0)
            }
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { throw Failure(.io, "cannot read \"\(file)\"", errno: errno) }
        }
    }
}

extension Span<UInt8> {
    /// Passes each line to `body`, without its newline.
    func forEachLine(_ body: (Span<UInt8>) throws -> Void) rethrows {
        var start = 0
        while start < count {
            var end = start
            while end < count, self[end] != UInt8(ascii: "\n") { end += 1 }
            try body(extracting(start..<end))
            start = end + 1
        }
    }
}
