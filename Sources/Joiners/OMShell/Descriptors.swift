// Complete reads and writes of descriptors, directly from and into locked memory.

internal import Glibc
package import OMSecrets

/// Writes everything.
///
/// - Returns: The error number if it failed.
package func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int32? {
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

/// Reads to the end, or until `buffer` holds more than `maximum` bytes.
package func readAll(_ descriptor: Int32, into buffer: inout SecretBuffer, maximum: Int) -> ReadResult {
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

package func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }

extension SecretBuffer {
    /// The secret without the one newline that a file or a program may have put behind it.
    package consuming func withoutNewline() -> SecretBytes {
        if withBytes({ !$0.isEmpty && $0[$0.count - 1] == UInt8(ascii: "\n") }) { removeLast() }
        return finish()
    }
}
