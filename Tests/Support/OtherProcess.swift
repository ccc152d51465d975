// Changes that another process makes to a test's file, and the memory of this process.

import Foundation

public struct Unexpected: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Changes the database in another process, so the value was never in this process's memory.
public func sqlite3(_ path: String, _ statement: String) async throws {
    let ran = try await run(["/usr/bin/sqlite3", "-cmd", ".timeout 60000", path, statement], in: TestFolder())
    guard ran.status == 0 else { throw Unexpected("sqlite3: \(statement): \(ran.errors)") }
}

/// The most memory that this process has used at once.
public enum PeakMemory {
    /// Sets the peak to the memory in use now, and returns it.
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
