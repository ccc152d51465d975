// The checks of the machine: memory, core files, kernel, clock and disk.

internal import COMSystem
internal import Glibc
internal import OMAgent
internal import OMSecrets
internal import OMShell
internal import OMSystem

struct MachineChecks {
    /// Folders on the disks that must have room.
    private let disks: [String]
    private let output: Output

    init(disks: [String], _ output: Output) { (self.disks, self.output) = (disks, output) }

    func all() -> [Diagnosis] {
        var seen: Set<UInt> = []
        return [memory(), hardening(), confinement(), clock()] + disks.compactMap { disk(of: $0, &seen) }
    }

    private func memory() -> Diagnosis {
        let check = "memory"
        // The limit is found out by using it.
        _ = SecretBytes(copying: [UInt8](repeating: 0, count: 32).span)
        guard SecretMemory.isLocked else {
            return .warning(check, SecretMemory.unlockedWords, next: "raise the limit: ulimit -l, or memlock in limits.conf")
        }
        let mebibytes = AgentProcess.recordBytes() >> 20
        return .ok(check, "secrets are locked in memory; the agent may keep \(mebibytes) MiB of opened items")
    }

    private func hardening() -> Diagnosis {
        let check = "core files"
        guard om_is_hardened() == 1 else {
            return .problem(
                check, "this process could write a core file, or other processes could read its memory",
                next: "please report it, with your kernel's version")
        }
        return .ok(check, "none is written, and no other process of yours can read or trace this one")
    }

    private func confinement() -> Diagnosis {
        let lacking = Confinement.lacking
        let words = AgentStatusCommand.words(lacking)
        guard !lacking.isEmpty else { return .ok("confinement", words) }
        return .warning("confinement", words, next: "a newer kernel confines the process that asks a server further")
    }

    private func clock() -> Diagnosis {
        let now = ClockReading.now()
        let time = output.time(now.wall)
        guard now.isWallSet else {
            return .problem("clock", "it says \(time), so it was not set", next: "set it: timedatectl, or a time server")
        }
        return .ok("clock", time)
    }

    /// The disk of a folder, or of the nearest folder above that is there. Nil for a disk that was seen.
    private func disk(of folder: String, _ seen: inout Set<UInt>) -> Diagnosis? {
        let check = "disk"
        var path = folder
        while access(path, F_OK) != 0, path != "/", path != "." { path = FilePath.folder(of: path) }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return .failed(check, Failure(.io, "\(path) cannot be read", errno: errno)) }
        guard seen.insert(status.f_fsid).inserted else { return nil }
        // A file system of any program may answer with any numbers.
        let (bytes, isTooLarge) = status.f_bavail.multipliedReportingOverflow(by: status.f_frsize)
        let free = isTooLarge ? UInt.max >> 20 : bytes >> 20
        let words = "\(free) MiB are free for \(folder)"
        if free < 4 { return .problem(check, words, next: "make room: a change needs space before it removes anything (df -h)") }
        if free < 64 { return .warning(check, words, next: "make room (df -h)") }
        return .ok(check, words)
    }
}
