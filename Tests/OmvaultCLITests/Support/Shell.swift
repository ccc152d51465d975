// The real binary, run by a script as a user would type it.

import Foundation
import Testing

/// What a script left behind.
struct Ran {
    let status: Int32
    let output: String
    let errors: String

    /// A JSON document, read by somebody else's parser.
    static func json(_ text: String) throws -> [String: Any] {
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(document as? [String: Any])
    }

    /// The one login of what `login status --json` printed.
    static func login(_ text: String) throws -> [String: Any] {
        let logins = try #require(try json(text)["logins"] as? [[String: Any]])
        return try #require(logins.count == 1 ? logins.first : nil)
    }
}

/// `refused CODE COMMAND…` ends the script unless the command exits with this code. Under `set -e`, `! COMMAND` fails only
/// where it is the last one.
private let prelude = """
    refused() {
        local wanted=$1 code=0; shift
        "$@" > .refused 2>&1 || code=$?
        [[ $code == "$wanted" ]] || { echo "exit $code, not $wanted: $*"; cat .refused; exit 99; }
    }

    """

/// Runs `script` in bash with `omvault` in its path, an empty home and none of our environment. Past the time limit it
/// is killed, which gives 124.
func bash(_ script: String, environment: [String: String] = [:]) throws -> Ran {
    let home = try Folder()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["--kill-after=5", "900", "/bin/bash", "-c", prelude + script]
    process.currentDirectoryURL = home.url
    process.environment = [
        "PATH": "\(binaries.path):/usr/bin:/bin", "HOME": home.url.path, "LC_ALL": "C.UTF-8",
    ].merging(environment) { $1 }
    let output = home.url.appending(path: ".test-output")
    let errors = home.url.appending(path: ".test-errors")
    for file in [output, errors] { try Data().write(to: file) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return Ran(
        status: process.terminationStatus,
        output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
        errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
}

/// Runs `script` as ``bash(_:environment:)`` does, but at a terminal: each answer is typed, as it stands, once its
/// prompt was printed. `output` is everything that the terminal showed.
///
///     let ran = try atTerminal("omvault get github:password", [("Password", "secret\n")])
func atTerminal(
    _ script: String, _ dialogue: [(prompt: String, answer: String)] = [], environment: [String: String] = [:]
) throws -> Ran {
    let steps = try JSONSerialization.data(withJSONObject: dialogue.map { [$0.prompt, $0.answer] })
    return try bash(
        "python3 \"$TEST_DRIVER\"",
        environment: environment.merging([
            "TEST_DRIVER": URL(filePath: #filePath).deletingLastPathComponent().appending(path: "at-terminal.py").path,
            "TEST_SCRIPT": script, "TEST_DIALOGUE": String(decoding: steps, as: UTF8.self),
        ]) { $1 })
}

/// A folder of one test, gone with it.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "omvault-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}

/// Where the test runner stands, and the built `omvault` beside it.
private let binaries = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
