// Messages about the files of other programs.

internal import OMAgent
internal import OMAgentProtocol
internal import OMInterchange
internal import OMShell

extension Failure {
    /// - Parameter file: Its name.
    init(_ error: ConfinedImport.Failure, _ file: String) {
        switch error {
        case .file(let error): self = Failure(error).about(file)
        case .helper(.misbehaved):
            self.init(
                .agent, "the process that reads the file ended before it was done; nothing was imported",
                hint: "the file may be damaged, or need more than 2 GiB of memory")
        case .helper(let error): self.init(error)
        }
    }

    init(_ error: InterchangeError) {
        switch error {
        case .otherFormat:
            self.init(
                .usage, "the file is not of this format, or of none that omvault knows",
                hint: "--from names the format: \(ForeignFormat.allCases.map(\.name).joined(separator: ", "))")
        case .unsupported(let words, let remedy):
            self.init(
                .unsupported, "omvault does not read this: \(words)", hint: remedy.isEmpty ? "see omvault import --help" : remedy)
        case .wrongKey:
            self.init(
                .badSecret, "the password, or the key file, does not open the file",
                hint: "give the password of this file; --key-file names a key file, if it has one")
        case .needsPassword:
            self.init(.inputRequired, "the file is encrypted, and no password was given", hint: "--password-from tty")
        case .damagedKeyFile:
            self.init(.corrupt, "the key file of the file is damaged", hint: "take another copy of the key file")
        case .damaged(let words):
            self.init(
                .corrupt, "the file is damaged, or breaks its format: \(words); nothing was imported",
                hint: "export it again; --from names the format if it was not recognised")
        case .otherMap(let words):
            self.init(
                .usage, "the map is not of this file: \(words); nothing was imported",
                hint: "--dry-run without --map prints the map that omvault chooses; \"delimiter\" and \"header\" are in it too")
        case .tooMuch(let words):
            self.init(
                .policy, "the file has more \(words) than omvault reads; nothing was imported",
                hint: "export a part of it; docs/reference/import.md has the limits")
        }
    }
}

extension ForeignLoss {
    /// A noun phrase.
    var words: String {
        switch self {
        case .olderVersions(let count): count.of("older version")
        case .icon: "the icon"
        case .autoType: "the rules of auto-type"
        case .member(let name), .unneeded(let name): name
        case .more(let count): "and \(count) more"
        case .attachment(let name): "the attachment \"\(name)\""
        case .time(let name): "the time \"\(name)\""
        }
    }
}
