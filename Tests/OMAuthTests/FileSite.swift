import Foundation
import OMSecrets
import OMStorage
import OMSystem
import TestSupport

@testable import OMAuth

/// Real files, and one process for each step: Tests/LoginWorker. The process is killed at one of its own writes or syncs.
final class FileSite: ModelSite {
    /// The writes that a power cut can interrupt: before, in and after charge, settlement and marks, online and offline.
    private static let cuts = [
        ("fdatasync", 1), ("fdatasync", 3), ("fdatasync", 4), ("fdatasync", 5), ("fdatasync", 7), ("pwrite64", 11),
        ("pwrite64", 13), ("pwrite64", 14), ("pwrite64", 17), ("pwrite64", 20),
    ]
    private static let program = Programs.worker("login-worker")

    private let home: Home
    private let clock: TestClock
    private let id: LoginID
    private(set) var kills = 0

    init(_ clock: TestClock) throws {
        home = try Home()
        self.clock = clock
        id = LoginKey(ada, try ReferenceModel.Settings().profile()).id(under: try home.backend.makeDevice())
    }

    private var authenticator: Authenticator { home.authenticator(clock: clock.read) }

    var hasLedger: Bool { (try? FilePath.exists(home.backend.ledger)) ?? false }

    func attempt(
        _ verb: ModelTests.Verb, _ mode: ConnectivityMode?, _ settings: ReferenceModel.Settings, power: Int?
    ) throws -> Outcome {
        let policy = settings.policy.map { policy in
            let limit = policy.maxLoginAttempts.map { "\($0)" } ?? "-"
            return "\(policy.epoch),\(limit),\(policy.offlineAuthAllowed.map { "\($0)" } ?? "-")"
        }
        var words = ["\(settings.net)", "\(settings.serverPassword)", policy ?? "-", mode?.rawValue ?? "-"]
        switch verb {
        case .check(let password): words = ["check"] + words + ["\(password)"]
        case .login(let answer, let wish):
            words = ["login"] + words
            switch answer {
            case .none: words.append("-")
            case .remembered: words.append("remembered")
            case .typed(let password): words.append("\(password)")
            }
            words.append(wish?.rawValue ?? "-")
        }
        guard let lines = try run(words, settings, power)?.split(separator: "\n", omittingEmptySubsequences: false) else {
            return Outcome()
        }
        let parts = lines[0].split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let mode = Said.Way(rawValue: parts[0]) else { throw Unusable(line: "\(lines)") }
        return Outcome(
            said: Said(mode: mode, text: parts[1]), events: lines.dropFirst().compactMap { ClearingEvent(rawValue: String($0)) })
    }

    func end(after event: ClearingEvent, _ settings: ReferenceModel.Settings) throws {
        guard try run(["end", event.rawValue], settings) == "done" else { throw Unusable(line: event.rawValue) }
    }

    func remove(_ settings: ReferenceModel.Settings) throws {
        guard try run(["remove"], settings) == "done" else { throw Unusable(line: "remove") }
    }

    func finish() throws { _ = try authenticator.status([]) }

    func authenticRow() throws(AuthError) -> LoginRow? { try authenticator.authenticRow(id) { try mark() } }

    func remembered(_ settings: ReferenceModel.Settings) throws -> ReferenceModel.Remembered {
        try authenticator.kept(settings.profile())
    }

    func rowBytes() throws -> [UInt8]? { try home.backend.openLedger()?.row(id) }

    func row() throws -> LoginRow? {
        guard let bytes = try rowBytes() else { return nil }
        return try LoginRow(bytes, under: id, home.device())
    }

    func mark() throws -> HighWaterMark? { try home.backend.marks(id, under: home.device()).read()?.first }

    // MARK: - Copies

    private var kept: String { home.path + "/kept" }

    func photograph() throws {
        try? FileManager.default.removeItem(atPath: kept)
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
        for part in ["state", "device"] where FileManager.default.fileExists(atPath: "\(home.path)/\(part)") {
            try home.copy("\(home.path)/\(part)", "\(kept)/\(part)")
        }
    }

    func restoreLedger() throws { try restore(["state"]) }

    func restoreAll() throws { try restore(["state", "device"]) }

    private func restore(_ parts: [String]) throws {
        guard FileManager.default.fileExists(atPath: kept) else { return }
        for part in parts {
            try? FileManager.default.removeItem(atPath: "\(home.path)/\(part)")
            guard FileManager.default.fileExists(atPath: "\(kept)/\(part)") else { continue }
            try home.copy("\(kept)/\(part)", "\(home.path)/\(part)")
        }
    }

    // MARK: - Processes

    private struct Unusable: Error { let line: String }

    /// - Returns: The output of the process. Nil if it was killed first.
    private func run(_ words: [String], _ settings: ReferenceModel.Settings, _ power: Int? = nil) throws -> String? {
        let reading = clock.read(), profile = try settings.profile()
        let values = profile.values.map { key, value in
            switch value {
            case .text(let text), .number(let text): "\(key.rawValue)=\(text)"
            case .bool(let flag): "\(key.rawValue)=\(flag)"
            }
        }
        var command = [
            Self.program, home.backend.state, home.backend.device, "\(reading.wall)", "\(reading.sinceBoot)",
            "\(reading.bootID[0])", values.sorted().joined(separator: ","),
        ]
        command += words
        if let power {
            let (call, number) = Self.cuts[power % Self.cuts.count]
            command =
                ["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e"]
                + ["inject=\(call):signal=SIGKILL:when=\(number)"] + command
        }
        // The model's steps are blocking calls. This thread waits, and belongs to the test.
        let ran = try runHere(command, in: home.folder)
        if power != nil, ran.status == 128 + SIGKILL {
            kills += 1
            return nil
        }
        guard ran.status == 0 else { throw Unusable(line: "\(words): \(ran.status)") }
        return ran.output.trimmingCharacters(in: .newlines)
    }
}
