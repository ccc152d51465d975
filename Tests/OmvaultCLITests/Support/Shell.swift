// The real binary, run by a script as a user would type it.

import Foundation
import TestSupport
import Testing

extension Ran {
    /// A JSON document, read by another parser than ours.
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

/// Runs `script` in bash with `omvault` in its path, an empty home, the functions of Tests/Scripts/prelude.bash, the zone UTC
/// and none of our environment.
///
/// - Parameter home: Nil for an empty one, which is removed afterwards.
func bash(_ script: String, environment: [String: String] = [:], home: TestFolder? = nil) async throws -> Ran {
    let home = try home ?? TestFolder()
    return try await run(command(script), in: home, environment: variables(home, environment))
}

/// Runs `script` as ``bash(_:environment:)`` does, but at a terminal: each answer is typed, unchanged, once its
/// prompt was shown. `output` is everything that the terminal showed.
///
///     let ran = try await atTerminal("omvault get github:password", [("Password", "secret\n")])
func atTerminal(
    _ script: String, _ dialogue: [(prompt: String, answer: String?)] = [], environment: [String: String] = [:]
) async throws -> Ran {
    let home = try TestFolder()
    return try await runAtTerminal(command(script), dialogue, in: home, environment: variables(home, environment))
}

private func command(_ script: String) -> [String] { ["/bin/bash", "-c", script] }

private func variables(_ home: TestFolder, _ more: [String: String]) -> [String: String] {
    [
        // The zone is the same on every machine.
        "PATH": "\(Programs.folder):/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "BASH_ENV": Programs.scriptPrelude,
        // No agent is asked, and none starts: this folder is missing. A script that wants an agent names a folder of its own.
        "XDG_RUNTIME_DIR": "\(home.path)/no-agent",
    ].merging(more) { $1 }
}
