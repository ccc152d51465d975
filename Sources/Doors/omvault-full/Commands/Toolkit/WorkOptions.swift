internal import ArgumentParser
internal import OMCrypto

/// `--max-work`: the limit of the work that a stored string or a mistyped option can require.
struct WorkOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Allow a multiple of the usual work limit. The usual limit: 1 GiB of memory filled 4 times, 10,000,000 "
                + "iterations of PBKDF2, bcrypt's cost 16, or 500 rounds in a key file of OpenSSH.", valueName: "times"))
    var maxWork: Int?

    var limit: WorkLimit { WorkLimit(factor: maxWork ?? 1) }
    var isGiven: Bool { maxWork != nil }

    func validate() throws {
        guard (1...1 << 20).contains(maxWork ?? 1) else {
            throw ValidationError("--max-work takes a number from 1 to 1048576")
        }
    }
}
