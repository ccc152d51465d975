import Foundation
import TestSupport
import Testing

@testable import OMVectors

/// The repository, from this file's own place in it.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

func report(_ paths: [String]) throws -> RunReport {
    var report = RunReport()
    for file in try VectorRunner.files(paths) { report.add(VectorRunner.verify(file)) }
    return report
}

@Suite struct VectorFolderTests {
    /// Golden: raise it with every case that is added to vectors/.
    static let ownCases = 1561

    @Test("every case of the repository's vectors passes, and none is skipped or missing")
    func own() throws {
        let report = try report([repository.appending(path: "vectors").path])
        for file in report.files { #expect(file.failures == [], "\(file.path)") }
        #expect(report.summary == "\(Self.ownCases) passed, 0 failed, 0 acceptable, 0 skipped")
        #expect(report.isProof(failOnSkip: true))
    }

    @Test("docs/reference/vectors.md lists what the repository's vectors have")
    func documented() throws {
        var list = CoverageList()
        for file in try VectorRunner.files([repository.appending(path: "vectors").path]) { list.add(file) }
        let rows = list.algorithms.map {
            "| \($0.algorithm) | \($0.files.count) | \($0.valid) | \($0.invalid) | \($0.acceptable) |"
        }
        let page = try String(contentsOf: repository.appending(path: "docs/reference/vectors.md"), encoding: .utf8)
        let table = ["| algorithm | files | valid | invalid | acceptable |", "|---|---|---|---|---|"] + rows
        #expect(page.contains("<!-- own vectors -->\n\(table.joined(separator: "\n"))\n<!-- end -->"), "\(table)")
        #expect(list.algorithms.allSatisfy { $0.skips.isEmpty })
    }

    @Test("every published case passes or is acceptable, the manifest's counts match, and every skip is deliberate")
    func published() throws {
        let folder = URL(
            filePath: ProcessInfo.processInfo.environment["OMVAULT_VECTORS"]
                ?? repository.deletingLastPathComponent().appending(path: "shared/vectors").path)
        guard let manifest = try? Data(contentsOf: folder.appending(path: "MANIFEST.json")) else {
            print("skipped: no published vectors (set OMVAULT_VECTORS)")
            return
        }
        var skipped: [String: Int] = [:]
        for entry in try JSONDecoder().decode([Entry].self, from: manifest)
        where entry.cases > 0 && (Sweep.isWhole || entry.path != Self.costly) {
            let report = try report([folder.appending(path: entry.path).path])
            #expect(report.failed == 0, "\(entry.path)")
            #expect(report.passed + report.acceptable == entry.cases, "\(entry.path): \(report.summary)")
            for file in report.files {
                for skip in file.skips { skipped[skip.reason, default: 0] += skip.count }
            }
        }
        #expect(skipped == ["the curve P-224 is not supported": 2])
    }

    /// RFC 6070. One of its cases has 16,777,216 rounds, which take as long as all other published cases together: only a whole
    /// run has it. The others are in vectors/pbkdf2-sha1.json too.
    private static let costly = "pyca/rfc-6070-PBKDF2-SHA1.txt"

    private struct Entry: Decodable {
        let path: String
        let cases: Int
    }
}
