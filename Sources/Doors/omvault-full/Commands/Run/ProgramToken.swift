internal import ArgumentParser
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `NAME=PROFILE[:SCOPES]`: a token that a program gets under a name.
struct ProgramToken: ExpressibleByArgument {
    let name: String
    let profile: String
    let scopes: ScopeSet

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "=") else { return nil }
        let rest = argument[argument.index(after: sign)...]
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = parts.count > 1 ? parts[1].split { $0 == "," || $0 == " " }.map(String.init) : []
        guard let scopes = ScopeSet(names), !parts[0].isEmpty, parts.count == 1 || !scopes.isEmpty else { return nil }
        (name, profile, self.scopes) = (String(argument[..<sign]), parts[0], scopes)
    }

    /// - Throws: ``ExitStatus/usage`` if the name can be no name of a variable.
    func checkVariable() throws(Failure) {
        try Handover.checkVariable(name)
    }

    /// - Throws: ``ExitStatus/usage`` if the name is no descriptor from 3 to 255.
    func descriptor() throws(Failure) -> Int32 { try Handover.descriptor(name) }
}
