internal import ArgumentParser
internal import OMAgent
internal import OMShell
internal import OMSystem

/// The authorities to trust, for a command without a profile.
struct TrustedCAOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Trust only the authorities in this PEM file, and not those of the system.", valueName: "file"),
        completion: .file())
    var trustedCa: String?

    /// Nil for those of the system.
    func read() throws(Failure) -> [UInt8]? {
        guard let path = trustedCa else { return nil }
        do throws(StorageError) { return try TrustedAuthorities.read(path) } catch {
            guard error != .missing else {
                throw Failure(.notFound, "\"\(path)\" does not exist", hint: "--trusted-ca is a PEM file")
            }
            throw Failure(error)
        }
    }
}
