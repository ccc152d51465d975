import Foundation
import TestSupport
import Testing

@testable import OMVectors

@Suite struct VectorFileTests {
    @Test("a folder is read in the order of the names' bytes, and other files than plain ones are named but not opened")
    func walk() throws {
        let folder = try TestFolder()
        try folder.write(CAVPReaderTests.short, to: "b/two.rsp")
        try folder.write(JSONReaderTests.native, to: "Z.json")
        try folder.write("words\n", to: "a.txt")
        try folder.write("", to: "é")
        #expect(mkfifo("\(folder.path)/c-pipe", 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/d-loop", withDestinationPath: folder.path)
        let large = "\(folder.path)/large.rsp"
        try folder.write("", to: "large.rsp")
        #expect(truncate(large, (64 << 20) + 1) == 0)

        let report = try report([folder.path + "/"])
        let lines = report.files.map { file in
            "\(file.path.dropFirst(folder.path.count + 1)) \(file.passed) \(file.skips.map(\.reason).joined())"
        }
        #expect(
            lines == [
                "Z.json 2 ", "a.txt 0 text of no known vector format", "b/two.rsp 2 ", "c-pipe 0 not a regular file",
                "d-loop 0 a symbolic link: not followed within a folder", "large.rsp 0 larger than 64 MiB",
                "é 0 the file is empty",
            ])
        #expect(report.summary == "4 passed, 0 failed, 0 acceptable, 5 skipped")
        #expect(report.isProof())
        #expect(!report.isProof(failOnSkip: true))
    }

    @Test("a typed link is followed, and a missing path is an error")
    func paths() throws {
        let folder = try TestFolder()
        try folder.write(CAVPReaderTests.short, to: "vectors.rsp")
        let link = "\(folder.path)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder.path)/vectors.rsp")
        #expect(try report([link]).summary == passes(2))
        for path in ["\(folder.path)/nothing", "", "\(folder.path)/vectors.rsp/below"] {
            #expect(throws: VectorsError.unreadable(path: path)) { try report([path]) }
        }
    }

    @Test("no run case or a failed case is no proof")
    func proof() throws {
        let folder = try TestFolder()
        #expect(try !report([folder.path]).isProof())
        try folder.write("words\n", to: "a.txt")
        #expect(try !report([folder.path]).isProof())
        try folder.write(CAVPReaderTests.short.replacing("616263", with: "616264"), to: "wrong.rsp")
        let broken = try report([folder.path])
        #expect(!broken.isProof())
        #expect(broken.files[1].failures == [.init(id: "line 10 (SHA)", reason: "the digest is another")])
    }
}
