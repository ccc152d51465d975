#if Server
// The option that names the data folder, which all commands have.

internal import ArgumentParser
internal import Glibc
internal import OMServerStore

struct DataOption: ParsableArguments {
    static let usualFolder = "/var/lib/omvault-server"

    @Option(name: .customLong("data"), help: ArgumentHelp("The folder with settings and store.", valueName: "folder"))
    var folder = DataOption.usualFolder

    /// The absolute path of the folder.
    var path: String {
        guard !folder.hasPrefix("/") else { return folder }
        guard let here = getcwd(nil, 0) else { return folder }
        defer { free(here) }
        return String(cString: here) + "/" + folder
    }

    func settings() throws -> ServerSettings { try ServerSettings.read(path) }

    /// The store that the settings name, opened.
    func store() throws -> any ServerStore { try settings().open() }
}
#endif
