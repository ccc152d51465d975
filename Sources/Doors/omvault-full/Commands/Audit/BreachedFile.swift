// A list of breached passwords on this disk, as haveibeenpwned.com gives it: a hash on each line, sorted.

internal import Glibc
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// A list that was opened. It is read only, and nothing of it is kept.
///
/// Attack: the list comes from a stranger, and this process holds passwords. So no line is parsed beyond its fixed form,
/// and the worst that a list can do is to claim a breach, or to hide one.
final class BreachedFile {
    /// What the lines hold.
    enum Hash: CaseIterable {
        case sha1, nt

        var digitCount: Int { 2 * count }
        var count: Int { self == .sha1 ? 20 : 16 }
    }

    let hash: Hash
    let path: String
    let size: Int
    private let descriptor: Int32
    /// Above so many bytes the file is searched and not read.
    private let mostRead: Int
    /// Not nil after a search in a list that may be cut off: where it begins and ends.
    private(set) var doubt: String?

    /// - Throws: ``ExitStatus/io``; ``ExitStatus/usage`` for anything but a regular file; ``ExitStatus/corrupt`` if the first
    ///   line is no hash.
    init(_ path: String, mostRead: Int = 64 << 20) throws(Failure) {
        // Without O_NONBLOCK a pipe without a writer would keep the command for ever.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(.io, "cannot read \"\(path.shown)\"", errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(.usage, "\"\(path.shown)\" is no regular file", hint: "unpack the list into a file of its own")
        }
        (self.path, self.mostRead, size) = (path, mostRead, Int(status.st_size))
        var start = [UInt8](repeating: 0, count: BreachedLine.longest + 1)
        let count = pread(descriptor, &start, start.count, 0)
        let line = Array(start.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") })
        guard let digits = BreachedLine.digitCount(line.span),
            let found = Hash.allCases.first(where: { $0.digitCount == digits }), BreachedLine(line.span, found) != nil
        else {
            close(descriptor)
            throw Failure(
                .corrupt, "\"\(path.shown)\" does not begin with a hash",
                hint: "each line is a SHA-1 or an NTLM hash in hexadecimal digits, or one with :COUNT behind it")
        }
        hash = found
    }

    deinit { close(descriptor) }

    /// The hash of a password, as this list has it.
    func hash(of password: borrowing SecretBytes) throws(Failure) -> SecretBytes {
        do throws(CryptoError) {
            switch hash {
            case .sha1: return try Digest.of(password, Insecure.sha1)
            case .nt: return try NTHash.of(password)
            }
        } catch {
            throw Failure(
                .unsupported, "this machine's OpenSSL has no MD4, so NTLM hashes cannot be compared",
                hint: "take the list of SHA-1 hashes")
        }
    }

    /// Looks for passwords in the list.
    ///
    /// - Parameter hashes: Their hashes, one behind the other.
    /// - Returns: For each breached password, by its number, how often the list has seen it; nil if the list does not say.
    /// - Throws: ``ExitStatus/corrupt`` for a line that is no hash; for a searched list that is not sorted.
    func breaches(of hashes: borrowing SecretBytes) throws(Failure) -> [Int: Int?] {
        let wanted = WantedHashes(hashes, hash.count)
        guard size > mostRead else { return try readWhole(wanted) }
        let search = try BreachedSearch(self)
        doubt = search.doubt
        return try search.find(wanted)
    }

    /// Reads each line, in whatever order they are.
    private func readWhole(_ wanted: borrowing WantedHashes) throws(Failure) -> [Int: Int?] {
        var found: [Int: Int?] = [:]
        try forEachLine(in: 0..<size) { _, line throws(Failure) in
            guard line.count != 0 else { return }
            for number in wanted.numbers(of: line.hash) { found.updateValue(line.count, forKey: number) }
        }
        return found
    }

    /// Reads the lines of a part of the file. It begins at the start of a line, and ends at one or at the end of the file.
    func forEachLine(
        in range: Range<Int>, _ body: (Int, BreachedLine) throws(Failure) -> Void
    ) throws(Failure) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let block = try bytes(in: offset..<min(offset + Self.blockCount, range.upperBound))
            let isLast = offset + block.count == range.upperBound
            let span = block.span
            var start = 0
            for index in span.indices where span[index] == UInt8(ascii: "\n") {
                if let line = try line(span.extracting(start..<index), at: offset + start) { try body(offset + start, line) }
                start = index + 1
            }
            if isLast, start < block.count {
                if let line = try line(span.extracting(start..<block.count), at: offset + start) {
                    try body(offset + start, line)
                }
                start = block.count
            }
            guard start > 0 else { throw damaged(at: offset) }
            offset += start
        }
    }

    private static let blockCount = 256 << 10

    /// - Returns: Nil for an empty line. Editors and joined lists have some.
    func line(_ line: Span<UInt8>, at offset: Int) throws(Failure) -> BreachedLine? {
        if line.count == 0 || line.count == 1 && line[0] == UInt8(ascii: "\r") { return nil }
        guard let line = BreachedLine(line, hash) else { throw damaged(at: offset) }
        return line
    }

    func bytes(in range: Range<Int>) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = pread(descriptor, &bytes, range.count, off_t(range.lowerBound))
        guard count >= 0 else { throw Failure(.io, "cannot read \"\(path.shown)\"", errno: errno) }
        guard count == range.count else {
            throw Failure(.conflict, "\"\(path.shown)\" was changed while it was read", hint: "run the command again")
        }
        return bytes
    }

    func damaged(at offset: Int) -> Failure {
        Failure(
            .corrupt, "\"\(path.shown)\" has no hash in the line at byte \(offset)",
            hint: "get the list again; it may be cut off", details: ["offset": .number(offset)])
    }

    func unsorted(at offset: Int) -> Failure {
        Failure(
            .corrupt, "\"\(path.shown)\" is not sorted: the line at byte \(offset) is out of order",
            hint: "LC_ALL=C sort -o \(path.asShellWord) \(path.asShellWord)", details: ["offset": .number(offset)])
    }
}

/// The hashes that are looked for, in locked memory.
struct WantedHashes: ~Copyable {
    private let hashes: SecretBytes
    private let width: Int
    /// The numbers of the hashes, in the order of the hashes.
    private var order: [Int] = []
    /// Whether a hash begins with these two bytes. Nearly every line of a list ends here.
    private var starts = [Bool](repeating: false, count: 1 << 16)

    init(_ hashes: borrowing SecretBytes, _ width: Int) {
        self.hashes = hashes.duplicate()
        self.width = width
        order = (0..<hashes.count / width).sorted { hash($0) < hash($1) }
        for number in order { starts[hash(number).start] = true }
    }

    var count: Int { order.count }

    borrowing func hash(_ number: Int) -> HashNumber {
        hashes.withBytes { bytes in HashNumber(count: width) { bytes[number * width + $0] } }
    }

    /// The numbers of the passwords with this hash.
    borrowing func numbers(of wanted: HashNumber) -> ArraySlice<Int> {
        guard starts[wanted.start] else { return [] }
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if hash(order[middle]) < wanted { low = middle + 1 } else { high = middle }
        }
        var end = low
        while end < order.count, hash(order[end]) == wanted { end += 1 }
        return order[low..<end]
    }
}
