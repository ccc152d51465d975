// Files that are read once, front to end, from any folder: for example a backup on a USB stick.

internal import Glibc

/// A regular file, read through a buffer. Any user may own it.
package struct StreamFile: ~Copyable {
    private static let bufferCount = 1 << 20

    /// The file's size in bytes when it was opened.
    package let count: Int
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var used = 0

    /// - Throws: ``StorageError/missing``; ``StorageError/hazardous(_:path:)`` if it is not a regular file.
    package static func open(_ path: String) throws(StorageError) -> StreamFile {
        let descriptor = retryingInterrupts { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .last }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .hazardous(.notRegular, path: path)
        }
        return StreamFile(count: Int(status.st_size), descriptor: descriptor)
    }

    private init(count: Int, descriptor: Int32) { (self.count, self.descriptor) = (count, descriptor) }

    deinit { close(descriptor) }

    /// The next `count` bytes, or fewer at the end of the file.
    package mutating func read(_ count: Int) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, Self.bufferCount))
        while bytes.count < count {
            if used == buffer.count {
                try fill()
                if buffer.isEmpty { break }
            }
            let taken = min(count - bytes.count, buffer.count - used)
            bytes += buffer[used..<used + taken]
            used += taken
        }
        return bytes
    }

    /// Goes back to the start.
    package mutating func rewind() throws(StorageError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last }
        (buffer, used) = ([], 0)
    }

    private mutating func fill() throws(StorageError) {
        let descriptor = descriptor
        var bytes = [UInt8](repeating: 0, count: Self.bufferCount)
        let got = bytes.withUnsafeMutableBytes { target in
            retryingInterrupts { Glibc.read(descriptor, target.baseAddress, target.count) }
        }
        guard got >= 0 else { throw .last }
        (buffer, used) = (Array(bytes.prefix(got)), 0)
    }
}
