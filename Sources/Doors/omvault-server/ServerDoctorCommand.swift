#if Server
internal import ArgumentParser
internal import Glibc
internal import NIOSSL
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// `doctor`: whether the server can work, and go on working.
struct ServerDoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check settings, certificate, store, disk and clock.",
        discussion: "Each line has what was checked, \"ok\" or \"finding\", and a sentence. With a finding the exit code is 42.")

    /// A disk with less room is a finding, in bytes.
    private static let leastRoom: UInt64 = 256 << 20
    /// So many days before its end a certificate is a finding.
    private static let leastDays: Int64 = 14

    @OptionGroup var data: DataOption

    func run() throws {
        var report = DoctorReport()
        let settings: ServerSettings
        do { settings = try data.settings() } catch {
            report.add("settings", finding: ServerFailure(error).message)
            throw report.failure
        }
        report.add("settings", "\(settings.folder)/\(ServerSettings.fileName)")
        certificate(settings, &report)
        store(settings, &report)
        disk(settings, &report)
        if report.findings > 0 { throw report.failure }
    }

    private func certificate(_ settings: ServerSettings, _ report: inout DoctorReport) {
        guard let path = settings.certificate, let key = settings.key else {
            return report.add("certificate", "none: plain HTTP on \(settings.address)")
        }
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(path)
            // This compares the key with the certificate.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))))
            guard let first = chain.first else { return report.add("certificate", finding: "\"\(path)\" has none") }
            let days = (Int64(first.notValidAfter) - Int64(time(nil))) / 86_400
            if first.notValidBefore > time(nil) {
                report.add("certificate", finding: "it is not valid yet; is the clock right?")
            } else if Int64(first.notValidAfter) <= Int64(time(nil)) {
                report.add("certificate", finding: "it has expired")
            } else if days < Self.leastDays {
                report.add("certificate", finding: "it expires in \(days) days")
            } else {
                report.add("certificate", "valid for \(days) days")
            }
        } catch {
            report.add("certificate", finding: "cannot use \"\(path)\" with its key \"\(key)\"")
        }
    }

    private func store(_ settings: ServerSettings, _ report: inout DoctorReport) {
        do {
            let state = try settings.location.check(ServerTables.schema)
            for finding in state.findings {
                switch finding {
                case .damaged: report.add("store", finding: "the store is damaged; restore a backup")
                case .unsafeSetting(let name):
                    report.add("store", finding: "PostgreSQL runs with \(name) off: a power cut can lose what was acknowledged")
                case .clockDiffers(let seconds):
                    report.add("clock", finding: "the database's clock differs by \(seconds) seconds")
                }
            }
            guard state.findings.isEmpty else { return }
            switch settings.location {
            case .file: report.add("store", "SQLite, tables of version \(ServerTables.schema.version), whole")
            case .postgres:
                let standby = state.hasStandby ? "a commit waits for a standby" : "no standby confirms commits"
                report.add("store", "PostgreSQL, tables of version \(ServerTables.schema.version); \(standby)")
            }
        } catch { report.add("store", finding: ServerFailure(error).message) }
    }

    private func disk(_ settings: ServerSettings, _ report: inout DoctorReport) {
        let folder = if case .file(let path) = settings.location { FilePath.folder(of: path) } else { settings.folder }
        var room = statvfs()
        guard statvfs(folder, &room) == 0 else { return report.add("disk", finding: "cannot read the state of \"\(folder)\"") }
        let free = UInt64(room.f_bavail) * UInt64(room.f_frsize)
        if free < Self.leastRoom {
            report.add("disk", finding: "only \(free >> 20) MiB are free in \"\(folder)\"")
        } else {
            report.add("disk", "\(free >> 20) MiB free")
        }
        // The clock went back since the settings were written.
        var status = stat()
        if stat("\(settings.folder)/\(ServerSettings.fileName)", &status) == 0, status.st_mtim.tv_sec > time(nil) + 5 {
            report.add("clock", finding: "the settings are from the future; is the clock right?")
        }
    }
}

/// Prints each result as it comes.
private struct DoctorReport {
    private(set) var findings = 0

    func add(_ part: String, _ text: String) { print("\(part)\tok\t\(text)") }

    mutating func add(_ part: String, finding: String) {
        findings += 1
        print("\(part)\tfinding\t\(finding)")
    }

    var failure: ServerFailure {
        ServerFailure(.doctorFindings, "\(findings) \(findings == 1 ? "finding" : "findings")", hint: "see the lines above")
    }
}
#endif
