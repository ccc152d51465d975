import Foundation

@testable import OMVectors

/// A folder of its own for each test, gone with it.
final class Folder {
    let path = FileManager.default.temporaryDirectory.appending(path: "omvault-\(UUID())").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, _ name: String) throws {
        let file = "\(path)/\(name)"
        let folder = URL(filePath: file).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
    }

    /// What the file comes to, with those beside it.
    func outcome(_ name: String) throws -> String {
        let report = try VectorRunner.files(["\(path)/\(name)"]).map { VectorRunner.verify($0) }[0]
        if let note = report.note { return note }
        return report.format == nil ? report.skips[0].reason : report.summary
    }
}

/// What a text comes to: the reason why it cannot be read, or the summary of what ran and was skipped.
func outcome(_ text: String, named name: String = "vectors") -> String { outcome(Array(text.utf8), named: name) }

func outcome(_ bytes: [UInt8], named name: String = "vectors") -> String {
    do {
        return VectorRunner.run(try Reading.of(bytes, named: name), at: name).summary
    } catch {
        return error.reason
    }
}

/// The summary of so many cases that passed.
func passes(_ count: Int) -> String { "\(count) passed, 0 failed, 0 acceptable, 0 skipped" }
let oneFails = "0 passed, 1 failed, 0 acceptable, 0 skipped"
func skips(_ count: Int) -> String { "0 passed, 0 failed, 0 acceptable, \(count) skipped" }
