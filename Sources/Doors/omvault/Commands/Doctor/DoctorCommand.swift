internal import ArgumentParser

/// `omvault doctor`: checks this machine and the user's set-up.
struct DoctorCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine and your set-up, and say what to do.",
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
            + MachineChecks(disks: [folders.vaults, folders.state]).all() + AgentChecks().all() + ShellChecks().all()
    }

    private func show(_ all: [Diagnosis], _ problems: Int, _ output: Output) throws(Failure) {
        let warnings = all.filter { $0.grade == .warning }.count
        switch output.format {
        case .json:
            var document = JSONDocument()
            document.field("problems", .number(problems))
            document.field("warnings", .number(warnings))
            document.objects("checks", all) { diagnosis, entry in
                entry.field("check", .text(diagnosis.check))
                entry.field("result", .text(diagnosis.grade.rawValue))
                entry.field("found", .text(diagnosis.found))
                entry.field("next", diagnosis.next.map { .text($0) } ?? .null)
            }
            return try output.document(document)
        case .table:
            try output.rows(
                all.map { [$0.check, $0.grade.rawValue, $0.found + ($0.next.map { "; \($0)" } ?? "")] },
                header: ["CHECK", "RESULT", "FOUND"])
        default:
            try output.rows(
                all.map { [$0.check, $0.grade.rawValue, $0.found, $0.next ?? "-"] },
                header: ["CHECK", "RESULT", "FOUND", "NEXT"])
        }
        output.notice(problems == 0 && warnings == 0 ? "all is well" : "\(problems.of("problem")), \(warnings.of("warning"))")
    }
}
