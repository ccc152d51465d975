// The checks of the system store, for root.

internal import Glibc
internal import OMAuth
internal import OMShell

struct SystemChecks {
    private let context: CommandContext

    /// - Throws: ``ExitStatus/permission`` for any user but root.
    init(_ context: CommandContext) throws(Failure) {
        guard geteuid() == 0 else { throw Failure(AuthError.rootRequired) }
        self.context = context
    }

    func all() -> [Diagnosis] {
        let folders = [("state", SystemStore.state), ("device", SystemStore.device), ("profiles", SystemStore.profiles)]
        return folders.map { HomeChecks.folder($0.0, $0.1, variable: nil) }
            + [HomeChecks.deviceKey(SystemStore.device)] + HomeChecks.drafts(in: folders.map(\.1)) + logins()
            + MachineChecks(disks: [SystemStore.state], context.output).all() + [AgentChecks.program()]
    }

    private func logins() -> [Diagnosis] {
        do throws(Failure) { return LoginChecks(try LoginAccess(context, system: true)).all() } catch {
            // Another user could change the store, or a folder above it.
            return [.failed("logins", error)]
        }
    }
}
