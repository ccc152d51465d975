// Permits that limit how many processes stretch at once. Two hundred at once would take 200 × 64 MiB. The permits keep
// the total within the machine's memory.
//
// The permits are files that every user of the machine can lock. Attack: a local user holds all permits, so that other
// users cannot stretch. The wait is bounded: after a minute the stretch goes ahead without a permit, only slower.

internal import Glibc

/// A machine-wide permit for one stretch: `flock` on one of min(cores, memory / 8 / 64 MiB) files.
enum StretchPermit {
    private static let pause = 10_000

    /// - Parameters:
    ///   - folder: The machine's folder. A test has its own.
    ///   - longestWait: In microseconds.
    static func hold<R: ~Copyable, E: Error>(
        in folder: String = "/run/lock", longestWait: Int = 60_000_000, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let files = openAll(in: folder)
        defer { files.forEach { _ = close($0) } }
        var waited = 0
        while !files.isEmpty, waited < longestWait, !files.contains(where: { flock($0, LOCK_EX | LOCK_NB) == 0 }) {
            usleep(UInt32(pause))
            waited += pause
        }
        return try body()
    }

    private static var count: Int {
        let memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return max(1, min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), memory / 8 / (64 << 20)))
    }

    /// A process only locks the files, so it needs no more than mode 0444 and a read-only descriptor.
    static func openAll(in folder: String) -> [Int32] {
        let first = Int(getpid())
        return (0..<count).map { (first + $0) % count }.compactMap { number in
            let path = "\(folder)/omvault-stretch-\(number)"
            let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            var descriptor = unsafe open(path, flags)
            if descriptor < 0, errno == ENOENT {
                descriptor = unsafe open(path, flags | O_CREAT | O_EXCL, mode)
                if descriptor < 0 { descriptor = unsafe open(path, flags) }
            }
            var status = stat()
            guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                if descriptor >= 0 { close(descriptor) }
                return nil
            }
            if needsRepair(status) { fchmod(descriptor, mode) }
            return descriptor
        }
    }

    /// Attack, or accident: a process with umask 077 creates the files. Then other users cannot open them, and stretch
    /// without any limit. So the owner repairs its own files. The owner is most often root.
    ///
    /// Attack: another user gives one of root's secret files a second name here, and root opens it to every user. So
    /// only a file with one name and no bytes is repaired.
    private static func needsRepair(_ status: stat) -> Bool {
        status.st_uid == geteuid() && status.st_mode & 0o7777 != mode && status.st_nlink == 1 && status.st_size == 0
    }

    private static let mode: mode_t = 0o444
}
