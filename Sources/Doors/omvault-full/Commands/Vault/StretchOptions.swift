internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// `--kdf-mem MIB --kdf-time N`: how much memory and time a guess takes.
struct StretchOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Memory for each guess at the password, in MiB: 8 to 1024; 64 if not given.", valueName: "mib"))
    var kdfMem: UInt32?

    @Option(parsing: .unconditional, help: ArgumentHelp("Passes over that memory: 1 to 16; 3 if not given.", valueName: "n"))
    var kdfTime: UInt32?

    var isGiven: Bool { kdfMem != nil || kdfTime != nil }

    func parameters() throws(Failure) -> Argon2id.Parameters {
        let standard = Argon2id.Parameters.standard
        return try Self.parameters(
            memory: kdfMem ?? standard.memoryKiB >> 10, passes: kdfTime ?? standard.passes)
    }

    /// - Parameter memory: The memory in MiB.
    static func parameters(memory: UInt32, passes: UInt32) throws(Failure) -> Argon2id.Parameters {
        do throws(SecretsError) {
            guard memory <= 1 << 20 else { throw .stretchOutOfBounds }
            return try Argon2id.Parameters(memoryKiB: memory << 10, passes: passes)
        } catch {
            throw Failure(
                .usage, "Argon2id takes 8 to 1024 MiB of memory and 1 to 16 passes",
                hint: "leave out --kdf-mem and --kdf-time for 64 MiB and 3 passes")
        }
    }
}

extension Argon2id.Parameters {
    /// `64 MiB, 3 passes`. Plain rows have the plural for 1 too, since scripts read them.
    func words(_ format: OutputFormat) -> String {
        "\(memoryKiB >> 10) MiB, \(passes) \(passes == 1 && format == .table ? "pass" : "passes")"
    }
}
