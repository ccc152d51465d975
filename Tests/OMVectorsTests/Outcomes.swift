import TestSupport

@testable import OMVectors

extension TestFolder {
    /// The result of the file, with the files beside it.
    func outcome(_ name: String) throws -> String {
        let report = try VectorRunner.files(["\(path)/\(name)"]).map { VectorRunner.verify($0) }[0]
        if let note = report.note { return note }
        return report.format == nil ? report.skips[0].reason : report.summary
    }
}

/// The result of a text: the reason why it cannot be read, or the summary of its run and skipped cases.
func outcome(_ text: String, named name: String = "vectors") -> String { outcome(Array(text.utf8), named: name) }

func outcome(_ bytes: [UInt8], named name: String = "vectors") -> String {
    do {
        return VectorRunner.run(try ParsedVectors.of(bytes, named: name), at: name).summary
    } catch {
        return error.reason
    }
}

/// The summary of this many passed cases.
func passes(_ count: Int) -> String { "\(count) passed, 0 failed, 0 acceptable, 0 skipped" }
let oneFails = "0 passed, 1 failed, 0 acceptable, 0 skipped"
func skips(_ count: Int) -> String { "0 passed, 0 failed, 0 acceptable, \(count) skipped" }
