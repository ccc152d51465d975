// The programs that tests start.

import Foundation

public enum Programs {
    private static let built =
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

    /// The folder of omvault and its helpers: $OMVAULT_PROGRAMS, which .ci/test sets, or the folder of the built tests.
    public static let folder: String = {
        guard let named = ProcessInfo.processInfo.environment["OMVAULT_PROGRAMS"] else { return built }
        precondition(named.hasPrefix("/"), "OMVAULT_PROGRAMS is not a whole path")
        return named
    }()

    public static func path(of name: String) -> String { folder + "/" + name }

    /// A program that only tests use, built with them.
    public static func worker(_ name: String) -> String { built + "/" + name }

    /// The server: $OMVAULT_SERVER, or that of the built tests. Nil if they were built without the trait `Server`.
    public static let server: String? = {
        if let named = ProcessInfo.processInfo.environment["OMVAULT_SERVER"] { return named }
        #if Server
        return worker("omvault-server")
        #else
        return nil
        #endif
    }()

    /// The script that starts the servers of Tests/Servers.
    public static let serve = file("Servers/serve")

    /// The functions for every bash of a test.
    public static let scriptPrelude = file("Scripts/prelude.bash")

    private static func file(_ path: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: path).path
    }
}
