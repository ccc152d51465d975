// The programs that were built with the tests.

public import Foundation

public enum Programs {
    /// The folder of the test runner, and of the programs built beside it.
    public static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

    public static func path(of name: String) -> String { folder + "/" + name }

    /// Starts the servers of Tests/Servers.
    public static let serve = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Servers/serve").path
}
