// Tests that other tests wait, start programs and make folders only through Tests/Support.

import Foundation
import Testing

@Suite("Tests wait, start programs and make folders through Tests/Support") struct WaitingTests {
    private static let words = [
        #"(^|[^\w])Process\(\)"#, "waitUntilExit", #"usleep\("#, #"(^|[^ ]|[^c] )sleep\("#, #"Task\.sleep"#, "DispatchSemaphore",
        "DispatchGroup",
        "mkdtemp", "temporaryDirectory", "concurrentPerform",
        // In a script.
        #"(^|[^\w.])sleep \$?[0-9]"#, "until .*do :; done",
        // This would wait for ever for a child that has ended. `while_runs` ends with the child.
        "do kill -0",
    ]

    /// What a file must have if one of its lines has one of the words: a quick look that spares most files the expressions.
    private static let cores = [
        "Process()", "waitUntilExit", "sleep", "DispatchSemaphore", "DispatchGroup", "mkdtemp", "temporaryDirectory",
        "concurrentPerform", "do :; done", "do kill -0",
    ].map { Data($0.utf8) }

    /// How often a test file has one of the words, and why.
    private static let exceptions: [String: (count: Int, reason: String)] = [
        "OMOnlineTests/ConfinementTests.swift": (1, "the kernel sends no event when another process has a connection"),
        "OMOnlineTests/HelperTests.swift": (1, "a helper that hangs is the test"),
        "OMSecretsTests/StretchPermitTests.swift": (1, "no event says that nothing happens"),
        "OmvaultCLITests/AgentPrivacyTests.swift": (1, "the kernel sends no event when another process runs its program"),
        "OmvaultCLITests/CryptoFileTests.swift": (
            2, "the kernel tells a script of a new file only through other programs; progress is shown by the clock"
        ),
        "OmvaultCLITests/PamHelperTests.swift": (2, "a helper that hangs is the test"),
        "OmvaultCLITests/PamTests.swift": (1, "a helper that hangs is the test"),
    ]

    @Test("only Tests/Support sleeps, blocks on a semaphore, starts a process or makes a folder")
    func words() throws {
        let tests = repository.appending(path: "Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        let expressions = try Self.words.map { try Regex($0) }
        var found: [String: [String]] = [:], checked = 0
        for file in files where file.pathExtension == "swift" {
            let path = String(file.path.dropFirst(tests.path.count + 1))
            guard !path.hasPrefix("Support/"), path != "FloorsTests/WaitingTests.swift" else { continue }
            checked += 1
            let bytes = try Data(contentsOf: file)
            guard Self.cores.contains(where: { bytes.range(of: $0) != nil }) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            for line in text.split(separator: "\n") where expressions.contains(where: { line.firstMatch(of: $0) != nil }) {
                found[path, default: []].append(line.trimmingCharacters(in: .whitespaces))
            }
        }
        #expect(checked > 200, "the tests were not found")
        for (path, lines) in found { #expect(lines.count == Self.exceptions[path]?.count, "\(path): \(lines)") }
        // The list has no outdated exceptions.
        #expect(Set(Self.exceptions.keys).subtracting(found.keys) == [])
    }

    @Test(
        "the check finds each way in which a test could wait or start a process itself",
        arguments: [
            "let process = Process()", "process.waitUntilExit()", "usleep(1)", "sleep(1)", "time.sleep(1)", "Thread.sleep(1)",
            "try await Task.sleep(for: .seconds(1))", "DispatchSemaphore(value: 0)", "DispatchGroup()", "mkdtemp(&name)",
            "FileManager.default.temporaryDirectory", "feed; sleep 1", "sleep $1",
            "until test -S s; do kill -0 $agent; done",
        ])
    func selfCheck(line: String) throws {
        #expect(try Self.words.contains { line.firstMatch(of: try Regex($0)) != nil })
        #expect(Self.cores.contains { Data(line.utf8).range(of: $0) != nil })
    }

    @Test("the check ignores ordinary text", arguments: ["func sleep(unit: String)", "before sleep", "process.sleeps()"])
    func selfCheckAllowed(line: String) throws {
        #expect(try !Self.words.contains { line.firstMatch(of: try Regex($0)) != nil })
    }
}
