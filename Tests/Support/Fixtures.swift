// Files of other programs, which are not in the repository.

public import Foundation

public enum Fixtures {
    /// $OMVAULT_FIXTURES, or `shared/fixtures` beside the repository. Nil, and said once, if there is none.
    public static let folder: URL? = {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = URL(
            filePath: ProcessInfo.processInfo.environment["OMVAULT_FIXTURES"]
                ?? repository.deletingLastPathComponent().appending(path: "shared/fixtures").path)
        guard FileManager.default.fileExists(atPath: folder.path) else {
            print("skipped: no files of other programs (set OMVAULT_FIXTURES)")
            return nil
        }
        return folder
    }()
}
