import Foundation
import OMJSON
import Testing

@testable import OMVectors

@Suite struct ControlTests {
    @Test("the check notices the flipped bit of every valid case of the repository's vectors")
    func own() throws {
        var (caught, files) = (0, 0)
        for file in try VectorRunner.files([repository.appending(path: "vectors").path]) {
            let control = VectorRunner.control(file)
            #expect(control.misses == [], "\(control.path)")
            let hasNoValidCase = VectorRunner.verify(file).note != nil || isAgeRefusal(control.path)
            #expect((control.caught > 0) != hasNoValidCase, "\(control.path)")
            caught += control.caught
            files += 1
        }
        #expect(caught >= 63)
        #expect(files >= 11)
    }

    /// Whether the file is a case of age's testkit that must be refused.
    private func isAgeRefusal(_ path: String) -> Bool {
        guard path.contains("/vectors/age/"), let bytes = try? Data(contentsOf: URL(filePath: path)) else { return false }
        return !bytes.starts(with: Array("expect: success\n".utf8))
    }

    private struct Blind: VectorCheck {
        func run() -> CheckOutcome { .agrees }
    }

    private func control(_ flips: [String], _ fields: [String: JSON], ordinal: Int = 0) -> NegativeControl {
        NegativeControl(ordinal: ordinal, flips: flips, records: [Fields(fields, at: "test")]) { _ in .run(Blind()) }
    }

    @Test("a check that notices nothing is a miss, and so is a case without anything to flip")
    func misses() {
        #expect(control(["ct"], ["ct": .string("00")]).miss() == "ct flipped: not noticed")
        for fields in [["ct": JSON.string("")], [:], ["ct": .null], ["ct": .array([])], ["tag": .string("00")]] {
            #expect(control(["ct"], fields).miss() == "nothing to flip a bit of")
        }
        let skipping = NegativeControl(ordinal: 0, flips: ["ct"], records: [Fields(["ct": .string("00")], at: "")]) { _ in
            .skip("too much work")
        }
        #expect(skipping.miss() == "ct flipped: skipped, too much work")
        let unreadable = NegativeControl(
            ordinal: 0, flips: ["ct"], records: [Fields(["ct": .string("00")], at: "")]
        ) { (_) throws(UnreadableFile) in throw UnreadableFile("broken") }
        #expect(unreadable.miss() == "nothing to flip a bit of")
    }

    @Test("the case's number picks the field and the bit, so each field and each bit gets its turn")
    func turns() {
        let fields = ["key": JSON.string("00ff"), "iv": .string(""), "ct": .string("00")]
        for (ordinal, name) in ["key", "ct", "key"].enumerated() {
            #expect(control(["key", "iv", "ct"], fields, ordinal: ordinal).miss() == "\(name) flipped: not noticed")
        }
        var seen: Set<[UInt8]> = []
        for bit in 0..<32 {
            let flipped = Fields(fields, at: "").flipping("key", seed: bit).flatMap { try? $0.bytes("key") }
            seen.insert(flipped ?? [])
            #expect(flipped.map { zip($0, [0x00, 0xFF]).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } } == 1)
        }
        #expect(seen.count == 16)
    }

    @Test("lists, lists of objects and texts are flipped too")
    func shapes() throws {
        let fields = Fields(
            [
                "list": .array([.string("00"), .string("01")]), "text": .string("{SSHA}="),
                "results": .array([.object(["md": .string("")]), .object(["md": .string("0f")]), .null]),
            ], at: "")
        #expect(try fields.flipping("list", seed: 1)?.hexes("list") == [[0x00], [0x41]])
        #expect(try fields.flipping("text", seed: 1)?.text("text") == "{RSHA}=")
        #expect(fields.flipping("results.md", seed: 4)?.names == fields.names)
        #expect(fields.flipping("results.sha", seed: 4)?.names == nil)
        #expect(fields.flipping("list.md", seed: 4)?.names == nil)
        let results = Fields(
            ["results": .array([.object(["md": .string("")]), .object(["md": .string("0f")])])], at: "")
        #expect(try results.flipping("results.md", seed: 7)?.objects("results")[1].bytes("md") == [0x0E])
    }
}
