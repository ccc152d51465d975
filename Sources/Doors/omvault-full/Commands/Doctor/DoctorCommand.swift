internal import ArgumentParser
internal import OMShell

/// `omvault doctor`: checks this machine and the user's set-up.
struct DoctorCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine and your set-up; say what to do.",
        discussion: """
            Checks folders, device key, vaults, logins, profiles, agent, memory, kernel, clock and disk, one line for each check.
            It asks for no password, opens no vault and changes nothing. 'omvault verify' checks the inside of a vault. Exits
            with 42 if there is a problem; warnings do not change the exit code.

              omvault doctor
              omvault doctor --json
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: systemStoreHelp)
    var system = false

    var printsRows: Bool { true }

    func validate() throws { try global.refuseVault("every vault is checked") }

    func run(_ context: CommandContext) throws {
        let all = try system ? SystemChecks(context).all() : Self.ofUser(context)
        let problems = all.filter { $0.grade == .problem }.count
        try show(all, problems, context.output)
        if problems > 0 { throw AlreadyReported(status: .doctorFindings) }
    }

    private static func ofUser(_ context: CommandContext) throws(Failure) -> [Diagnosis] {
        let folders = try context.userFolders()
        return HomeChecks(folders).all() + VaultChecks(folders).all() + LoginChecks.ofUser(context, folders)
            + MachineChecks(disks: [folders.vaults, folders.state], context.output).all() + AgentChecks().all()
            + ShellChecks().all()
    }

    private func show(_ all: [Diagnosis], _ problems: Int, _ output: Output) throws(Failure) {
        let warnings = all.filter { $0.grade == .warning }.count
        // A table has the next step behind what was found, since both are sentences.
        let isTable = output.format == .table
        try output.list(
            "checks", all, columns: ["CHECK", "RESULT", "FOUND"] + (isTable ? [] : ["NEXT"]),
            head: ["problems": .number(problems), "warnings": .number(warnings)]
        ) { diagnosis in
            let start = [diagnosis.check, diagnosis.grade.rawValue]
            guard isTable else { return start + [diagnosis.found, diagnosis.next ?? "-"] }
            return start + [([diagnosis.found] + [diagnosis.next].compactMap(\.self)).joined(separator: "; ")]
        } object: { diagnosis, entry in
            entry.field("check", .text(diagnosis.check))
            entry.field("result", .text(diagnosis.grade.rawValue))
            entry.field("found", .text(diagnosis.found))
            entry.field("next", diagnosis.next.map { .text($0) } ?? .null)
        }
        guard output.format != .json else { return }
        output.notice(problems == 0 && warnings == 0 ? "all is well" : "\(problems.of("problem")), \(warnings.of("warning"))")
    }
}
