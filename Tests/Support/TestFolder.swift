// The folder of one test.

public import Foundation
import Glibc
import Synchronization

/// A folder with mode 0700. It is removed with its content when the test releases it, or when the process ends before: a thread
/// may hold it for a moment longer than its test.
public final class TestFolder: Sendable {
    public let path: String

    public var url: URL { URL(filePath: path) }

    /// A parent for tests of what only a disk has. The system's own place for temporary files may be in memory.
    public static let disk = "/var/tmp"

    /// - Parameters:
    ///   - parent: The folder in which it is made, such as a folder in memory for tests that need one.
    ///   - folders: The folders that it holds from the start, each with mode 0700.
    public init(
        in parent: String? = nil, containing folders: [String] = []
    ) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        path = (parent.hasSuffix("/") ? parent : parent + "/") + "omvault-test-" + UUID().uuidString
        Self.kept.add(path)
        for folder in [path] + folders.map({ path + "/" + $0 }) {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    deinit {
        Self.remove(path)
        Self.kept.drop(path)
    }

    /// A server or an agent of the test may still remove its own files. Then one pass is not enough.
    private static func remove(_ path: String) {
        for _ in 0..<1_000 {
            try? FileManager.default.removeItem(atPath: path)
            guard FileManager.default.fileExists(atPath: path) else { return }
            usleep(10_000)
        }
    }

    /// The folders that are still there. What is left at the end of the process is removed then.
    private final class Kept: Sendable {
        private let paths = Mutex<Set<String>>([])

        init() { atexit { TestFolder.kept.removeAll() } }

        func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

        func drop(_ path: String) { paths.withLock { _ = $0.remove(path) } }

        func removeAll() {
            for path in paths.withLock({ $0 }) { TestFolder.remove(path) }
        }
    }

    private static let kept = Kept()

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, and the folders above it, and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = URL(filePath: file(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}
