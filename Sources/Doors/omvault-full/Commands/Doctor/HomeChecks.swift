// The checks of a user's folders: who can use them, the device key, and files that no command works on any more.

internal import OMShell
internal import OMStorage
internal import OMSystem

struct HomeChecks {
    private let folders: UserFolders

    init(_ folders: UserFolders) { self.folders = folders }

    func all() -> [Diagnosis] {
        [
            Self.folder("vaults", folders.vaults, variable: "XDG_DATA_HOME"),
            Self.folder("state", folders.state, variable: "XDG_STATE_HOME"),
            Self.folder("device", folders.device, variable: "XDG_STATE_HOME"),
            Self.deviceKey(folders.device),
            defaultVault(),
        ] + Self.drafts(in: [folders.vaults, folders.state, folders.device, folders.configuration, folders.profiles])
            + Self.logs(in: folders.vaults)
    }

    /// A folder that only its owner may use.
    ///
    /// - Parameter variable: The variable that moves the folder.
    static func folder(_ name: String, _ path: String, variable: String?) -> Diagnosis {
        let check = "folder \(name)"
        do throws(StorageError) {
            return .ok(check, try PrivateFolder(path).path)
        } catch {
            if error == .missing { return .ok(check, "\(path) is not there yet") }
            let failure = Failure(error)
            guard case .hazardous(.onNetwork, _) = error, let variable else { return .failed(check, failure) }
            return .failed(check, failure.with(hints: ["set \(variable) to a folder on a local disk"]))
        }
    }

    static func deviceKey(_ path: String) -> Diagnosis {
        let check = "device key"
        do throws(StorageError) {
            switch try DeviceFolder(path).existing() {
            case .some: return .ok(check, "it is there; keep its folder out of backups")
            case .none: return .ok(check, "none yet; the first vault or login makes it")
            }
        } catch {
            if error == .missing { return .ok(check, "none yet; the first vault or login makes it") }
            // The folder's own check has its hazards.
            if case .hazardous(_, path: let hazardous) = error, hazardous == path {
                return .problem(check, "it was not read", next: "repair its folder first")
            }
            return .failed(check, Failure(error))
        }
    }

    private func defaultVault() -> Diagnosis {
        let check = "default vault"
        do throws(Failure) {
            let location = try VaultLocation(Environment.text("OMVAULT_VAULT"), in: folders)
            guard !VaultList.isFile(location.path) else { return .ok(check, location.name) }
            let others = VaultList.names(in: folders)
            guard !others.isEmpty else {
                return .ok(check, "\(location.name), which is not there yet", next: "omvault init makes it")
            }
            return .warning(
                check, "\(location.name), which is not there; vaults here: \(VaultList.words(others))",
                next: "omvault vault default NAME chooses another")
        } catch { return .failed(check, error) }
    }

    /// Files that killed processes left. The next command that writes the same file removes them.
    static func drafts(in folders: [String]) -> [Diagnosis] {
        let drafts = folders.flatMap { Draft.abandoned(in: $0) }
        guard !drafts.isEmpty else { return [.ok("drafts", "none left by a killed process")] }
        return drafts.map { draft in
            .warning(
                "drafts", "a killed process left \(draft)", next: "it holds nothing that is needed: rm \(draft.asShellWord)*")
        }
    }

    /// Logs of databases that were moved away.
    private static func logs(in folder: String) -> [Diagnosis] {
        let names = (try? PrivateFolder(folder).names()) ?? []
        let files = names.filter { $0.hasSuffix(".omv-wal") }.map { "\(folder)/\($0.dropLast(4))" }.sorted()
        return files.compactMap { file in
            guard (try? Database.hasLogWithoutFile(file)) == true else { return nil }
            let failure = Failure(StorageError.hazardous(.logWithoutFile, path: file + "-wal"))
            return .failed("logs", failure)
        }
    }
}
