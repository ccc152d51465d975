// What another process does to a test's file, and how much memory this process takes.

import Foundation

public struct Unexpected: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Another process changes the database, so that no memory of this one has held the value.
public func sqlite3(_ path: String, _ statement: String) async throws {
    let ran = try await run(["/usr/bin/sqlite3", "-cmd", ".timeout 60000", path, statement], in: TestFolder())
    guard ran.status == 0 else { throw Unexpected("sqlite3: \(statement): \(ran.errors)") }
}

/// The most memory that this process has had at once.
public enum PeakMemory {
    /// Starts again from what is in use now, and returns that.
    public static func reset() throws -> Int {
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return try kilobytes()
    }

    public static func kilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(separator: " ").dropLast().last.flatMap({ Int($0) })
        else { throw Unexpected("no VmHWM") }
        return number
    }
}
