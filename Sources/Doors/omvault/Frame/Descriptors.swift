// read(2) and write(2) until all is done, straight from and into locked memory.

internal import Glibc
internal import OMSecrets

enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// - Throws: ``ExitStatus/io`` when the reader went away or the disk is full.
    static func write(_ text: String) throws(Failure) { try write(text.utf8Span.span) }
    static func write(_ secret: borrowing SecretBytes) throws(Failure) { try secret.withBytes(write) }

    private static func write(_ bytes: Span<UInt8>) throws(Failure) {
        if let code = writeAll(bytes, to: STDOUT_FILENO) {
            throw Failure(.io, "cannot write to standard output: \(systemMessage(code))")
        }
    }
}

/// Nothing can be said about a standard error that takes no words, so its errors end here.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func write(_ text: String) { _ = writeAll(text.utf8Span.span, to: STDERR_FILENO) }
    static func write(_ secret: borrowing SecretBytes) { _ = secret.withBytes { writeAll($0, to: STDERR_FILENO) } }
}

/// Writes everything; the error number when it could not.
func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count {
            let written = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                waitUntilReady(descriptor, POLLOUT)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

enum ReadEnd: Equatable {
    case end
    case tooLong
    case error(Int32)
}

/// Reads to the end, or until `buffer` holds more than `maximum` bytes.
func readAll(_ descriptor: Int32, into buffer: inout SecretBuffer, maximum: Int) -> ReadEnd {
    while buffer.count <= maximum {
        var count = 0
        buffer.append(upTo: 4096) { free in
            count = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            return max(count, 0)
        }
        if count == 0 { return .end }
        if count < 0, errno == EAGAIN {
            waitUntilReady(descriptor, POLLIN)
        } else if count < 0, errno != EINTR {
            return .error(errno)
        }
    }
    return .tooLong
}

private func waitUntilReady(_ descriptor: Int32, _ event: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    poll(&waiting, 1, -1)
}

func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }
