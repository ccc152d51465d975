import Foundation
import Testing

@testable import OMVectors

/// The repository, from this file's own place in it.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

func report(_ paths: [String]) throws -> Report {
    var report = Report()
    for file in try VectorRunner.files(paths) { report.add(VectorRunner.verify(file)) }
    return report
}

@Suite struct VectorFolderTests {
    /// Golden: raise it with every case that is added to vectors/.
    static let ownCases = 490

    @Test("every case of the repository's vectors passes, none is skipped, and none went missing")
    func own() throws {
        let report = try report([repository.appending(path: "vectors").path])
        for file in report.files { #expect(file.failures == [], "\(file.path)") }
        #expect(report.summary == "\(Self.ownCases) passed, 0 failed, 0 acceptable, 0 skipped")
        #expect(report.isProof(failOnSkip: true))
    }

    @Test("docs/vectors.md lists what the repository's vectors hold")
    func documented() throws {
        var list = CoverageList()
        for file in try VectorRunner.files([repository.appending(path: "vectors").path]) { list.add(file) }
        let rows = list.algorithms.map {
            "| \($0.algorithm) | \($0.files.count) | \($0.valid) | \($0.invalid) | \($0.acceptable) |"
        }
        let page = try String(contentsOf: repository.appending(path: "docs/vectors.md"), encoding: .utf8)
        let table = ["| algorithm | files | valid | invalid | acceptable |", "|---|---|---|---|---|"] + rows
        #expect(page.contains("<!-- own vectors -->\n\(table.joined(separator: "\n"))\n<!-- end -->"), "\(table)")
        #expect(list.algorithms.allSatisfy { $0.skips.isEmpty })
    }

    @Test("no published case fails, none is lost, and those for SHA, AES-CBC and the SDK's strings all pass")
    func published() throws {
        let folder = URL(
            filePath: ProcessInfo.processInfo.environment["OMVAULT_VECTORS"]
                ?? repository.deletingLastPathComponent().appending(path: "shared/vectors").path)
        guard let manifest = try? Data(contentsOf: folder.appending(path: "MANIFEST.json")) else {
            print("skipped: no published vectors (set OMVAULT_VECTORS)")
            return
        }
        let entries = try JSONDecoder().decode([Entry].self, from: manifest)
            .filter { $0.isRunWhole && $0.cases > 0 }
        #expect(entries.count == 73)
        for entry in entries {
            let report = try report([folder.appending(path: entry.path).path])
            #expect(report.summary == "\(entry.cases) passed, 0 failed, 0 acceptable, 0 skipped", "\(entry.path)")
        }
        for entry in try JSONDecoder().decode([Entry].self, from: manifest) where entry.isCounted {
            let report = try report([folder.appending(path: entry.path).path])
            #expect(report.failed == 0, "\(entry.path)")
            #expect(report.passed + report.acceptable + report.skipped == entry.cases, "\(entry.path)")
        }
    }

    private struct Entry: Decodable {
        let path: String
        let cases: Int

        var isRunWhole: Bool {
            path.hasPrefix("cavp/sha/") || path.hasPrefix("cavp/aes") || path.hasPrefix("cavp/tdes/")
                || path.hasPrefix("cavp/keywrap/") || path.hasPrefix("wycheproof/pbes2_")
                || path.hasPrefix("wycheproof/aes_") && !path.contains("wrap") || path.contains("chacha20")
                || Self.generated.contains(path) || path.hasPrefix("acvp/ACVP-AES-") || path.hasPrefix("pyca/aes-")
                || path == "pyca/kwp_botan.txt" || path.hasPrefix("generated/salted_")
                || ["acvp/SHA-1.json", "acvp/SHA2-256.json", "acvp/HMAC-SHA2-256.json"]
                    .contains(path)
                || ["pyca/rfc-4231-sha256.txt", "pyca/rfc-5869-HKDF-SHA256.txt"].contains(path)
        }

        private static let generated = [
            "generated/block_openssl.json", "generated/openssl_enc_salted.json", "generated/aead_libs.json",
            "generated/keywrap_openssl.json",
        ]

        /// Files whose cases the manifest counts as we do: what is not run is counted all the same.
        var isCounted: Bool {
            cases > 0 && !isRunWhole && !path.hasPrefix("acvp/") && !path.hasPrefix("pyca/")
        }
    }
}
