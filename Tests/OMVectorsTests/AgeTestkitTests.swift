import Foundation
import OMCrypto
import Testing

@testable import OMVectors

/// The cases of `vectors/age`, which are those of C2SP/CCTV.
@Suite("age's testkit") struct AgeTestkitTests {
    private static let folder = repository.appending(path: "vectors/age")

    private func expected(_ bytes: [UInt8]) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.dropFirst("expect: ".utf8.count), as: UTF8.self)
    }

    @Test("each case of age's testkit ends as its file says, with the same kind of failure")
    func endings() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0 != "README.md" }
        #expect(names.count == Self.count)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))
            let vector = try #require(ParsedVectors.of(bytes, named: name).cases.first)
            guard case .run(let check) = vector.plan else {
                Issue.record("\(name) is skipped")
                continue
            }
            let outcome = check.run()
            let wanted = expected(bytes)
            #expect(outcome == (wanted == "success" ? .agrees : .refused(wanted)), "\(name)")
        }
    }

    private static let count = 86

    @Test("a malformed case is no vector, and a case with an unknown key is skipped")
    func malformed() throws {
        let digest = String(repeating: "00", count: 32)
        for text in [
            "expect: success\n\nage", "expect: maybe\n\nage", "expect: success\npayload: 00\n\nage", "expect: no match",
            "expect: no match\nidentity\n\nage", "expect: success\npayload: \(digest)\ncompressed: zlib\n\nage",
            "expect: success\npayload: \(digest)\ncompressed: gzip\n\nage",
        ] {
            #expect(throws: UnreadableFile.self, "\(text)") { try ParsedVectors.of(Array(text.utf8), named: "x") }
        }
        let other = try ParsedVectors.of(Array("expect: no match\nspin: left\n\nage".utf8), named: "x")
        guard case .skip(let reason)? = other.cases.first?.plan else { throw CancellationError() }
        #expect(reason == "the key spin is not supported")
    }
}
