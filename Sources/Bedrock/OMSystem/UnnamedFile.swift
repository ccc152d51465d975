// A file without a name, for sealed data that must be gone with its process.

internal import COMSystem
internal import Glibc

/// A regular file that no folder names. However the process ends, the file ends with its last descriptor.
package struct UnnamedFile: ~Copyable, Sendable {
    /// For a process that it is sent to.
    package let descriptor: Int32
    /// The device of its file system.
    package let device: UInt64

    /// Creates an empty file on the file system of `folder`.
    package init(in folder: String) throws(StorageError) {
        descriptor = retryingInterrupts { om_unnamed_file(folder) }
        guard descriptor >= 0 else { throw .last }
        device = FilePath.device(of: descriptor)?.number ?? 0
    }

    /// Takes over a descriptor that another process sent.
    ///
    /// - Returns: nil unless it is a regular file, open for reading and writing. Attack: a pipe or a device would hold a
    ///   thread for ever.
    package init?(received descriptor: Int32) {
        guard let (number, isRegular) = FilePath.device(of: descriptor), isRegular,
            fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR
        else {
            close(descriptor)
            return nil
        }
        (self.descriptor, device) = (descriptor, number)
    }

    /// The position of the descriptor, which all processes that share the file see. Reading and writing do not use it.
    package var position: Int { Int(lseek(descriptor, 0, SEEK_CUR)) }

    package func move(to position: Int) { lseek(descriptor, off_t(position), SEEK_SET) }

    deinit { close(descriptor) }

    package func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try writeAll(bytes.span, to: descriptor, at: offset)
    }

    /// The `count` bytes at `offset`, or fewer at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { target in
                retryingInterrupts {
                    pread(descriptor, target.baseAddress.map { $0 + done }, target.count - done, off_t(offset + done))
                }
            }
            guard got >= 0 else { throw .last }
            guard got > 0 else { break }
            done += got
        }
        return Array(bytes.prefix(done))
    }
}
