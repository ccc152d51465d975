// The checks of each vault, as far as no password is needed.

internal import OMItems
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

struct VaultChecks {
    private let folders: UserFolders
    private let device: DeviceFolder?
    /// Whether the device folder is not safe to use. Its own check says why.
    private let isDeviceRefused: Bool

    init(_ folders: UserFolders) {
        self.folders = folders
        do throws(Failure) { (device, isDeviceRefused) = (try folders.deviceFolder(), false) } catch {
            (device, isDeviceRefused) = (nil, true)
        }
    }

    func all() -> [Diagnosis] { VaultList.names(in: folders).flatMap(check) }

    private func check(_ name: String) -> [Diagnosis] {
        let check = "vault \(name)"
        guard let path = try? VaultLocation(name, in: folders).path else { return [] }
        do throws(VaultError) {
            let file = try VaultFile.open(path, device: device)
            guard !isDeviceRefused else {
                return [.warning(check, "it was not checked", next: "repair the folder device first")]
            }
            guard file.isOwnDevice else {
                return [.failed(check, Failure(otherDevice: device, vault: name), grade: .warning)]
            }
            var found = slots(file, name, check) + log(file, name, check)
            if !file.isPasswordCountWhole {
                found.append(
                    .warning(
                        check, "its count of wrong passwords is missing, damaged or older than this device noted",
                        next: "the next password has to wait up to 60 seconds; find out who changed the device folder"))
            }
            if file.isReplaced {
                found.append(
                    .warning(
                        check, "its file is a copy of the file that this device wrote last",
                        next: "omvault log verify --vault \(name.asShellWord); the next change makes it the vault"))
            }
            if try VaultFile.isPurgePending(path) {
                found.append(
                    .warning(
                        check, "removed sealed bytes are still in its write-ahead log",
                        next: "unlock it while no other process reads it"))
            }
            guard found.isEmpty else { return found }
            return [.ok(check, "its file and this device's marks are whole, as far as no password is needed")]
        } catch { return [.failed(check, Failure(error, vault: name))] }
    }

    /// If this device is lost, the password opens no copy of the vault.
    private func slots(_ file: borrowing VaultFile, _ name: String, _ check: String) -> [Diagnosis] {
        guard file.slots.allSatisfy(\.isDeviceBound) else { return [] }
        return [
            .warning(
                check, "it has no recovery code and no key file: after the loss of this device nothing opens it",
                next: "omvault key add-slot --type recovery --vault \(name.asShellWord)")
        ]
    }

    private func log(_ file: borrowing VaultFile, _ name: String, _ check: String) -> [Diagnosis] {
        do throws(VaultError) {
            guard let fault = try file.auditReport().fault else { return [] }
            return [
                .problem(
                    check, "its audit log is broken: \(fault.words)", next: "omvault log verify --vault \(name.asShellWord)")
            ]
        } catch { return [.failed(check, Failure(error, vault: name))] }
    }
}
