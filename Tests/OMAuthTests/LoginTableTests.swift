import Foundation
import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

/// A comparison of docs/reference/login.md with the code.
@Suite struct LoginTableTests {
    @Test(
        "R22 every outcome × cached × password × mode × allowed gives the page's result, and a receipt with every success"
    )
    func outcomes() throws {
        let answers = try LoginPage.answers()
        #expect(answers.count == 21)
        let notes = try LoginPage.notes("outcomes")
        let table = try LoginPage.rows("outcomes").dropFirst().map { try OutcomeRow($0, notes: notes) }
        let settings: [(key: String?, change: (inout ProfileSettings) -> Void)] = [
            (nil, { _ in }), ("OfflineOnUntrustedServer", { $0.offlineOnUntrustedServer = true }),
            ("OfflineOnServerError", { $0.offlineOnServerError = true }),
        ]
        var (cells, used) = (0, Set<Int>())
        for (outcome, answer) in answers {
            for mode in ConnectivityMode.allCases {
                for isAllowed in [true, false] {
                    for (key, change) in settings {
                        let fits = table.firstIndex {
                            $0.isFor(
                                [outcome, answer], mode.rawValue.lowercased(), isAllowed ? "allowed" : "not allowed", key: key)
                        }
                        let index = try #require(fits, "\(outcome), \(mode), allowed \(isAllowed)")
                        used.insert(index)
                        for (cached, cell) in zip(Cached.allCases, table[index].results) {
                            let expected = cell.replacing("the answer", with: answer)
                            #expect(
                                try result(outcome, answer, mode, isAllowed, cached, change) == expected,
                                "\(outcome), \(mode), allowed \(isAllowed), cached \(cached), \(key ?? "no key")")
                            cells += 1
                        }
                    }
                }
            }
        }
        #expect(cells == 21 * 3 * 2 * 3 * 4)
        #expect(used == Set(table.indices), "a row fits no case")
    }

    /// A row of the page's table: the logins that it describes, and their result.
    private struct OutcomeRow {
        /// The answers or classes, each with the key that the profile must have for it.
        private let answers: [(name: String, key: String?)]
        private let (modes, allowed): (String, String)
        /// By ``Cached``.
        let results: ArraySlice<String>

        /// - Parameter notes: the keys of the marks behind an answer.
        init(_ cells: [String], notes: [Character: String]) throws {
            try #require(cells.count == 7)
            answers = LoginPage.parts(cells[0]).map { part in
                let key = part.last.flatMap { notes[$0] }
                return (key == nil ? part : String(part.dropLast()), key)
            }
            (modes, allowed, results) = (cells[1], cells[2], cells.dropFirst(3))
        }

        /// - Parameter answers: an outcome, and its class.
        func isFor(_ names: [String], _ mode: String, _ allowed: String, key: String?) -> Bool {
            answers.contains { answer in
                (answer.name == "any" || names.contains(answer.name)) && (answer.key == nil || answer.key == key)
            }
                && modes.split(separator: ", ").contains { $0 == mode } && ["any", allowed].contains(self.allowed)
        }
    }

    private enum Cached: CaseIterable { case nothing, right, wrong, last }

    private func result(
        _ row: String, _ answer: String, _ mode: ConnectivityMode, _ isAllowed: Bool, _ cached: Cached,
        _ change: (inout ProfileSettings) -> Void = { _ in }
    ) throws -> String {
        let place = MemoryLoginBackend()
        let checks = Counter()
        let authenticator = place.authenticator(onCheck: { _ in checks.add() })
        let allowing = try serverProfile(1)
        let profile = try serverProfile(1, allowed: isAllowed) { change(&$0) }
        if cached != .nothing { _ = try authenticator.enroll(ada, allowing, password: Password("right")) }
        if cached == .last { _ = try? authenticator.check(ada, allowing, password: Password("wrong")) }
        let wasLive = try place.row(profile)?.isLive ?? false
        let before = checks.count
        let ending = authenticator.end(
            cached == .right ? "right" : "other", profile, mode, asking: try Self.provider(answer, row))
        // CVE-2010-0014, CVE-2025-53013: every offline success has opened the slot exactly once.
        if case .offline = ending { #expect(checks.count == before + 1) }
        let isLive = try place.row(profile)?.isLive ?? false
        return Self.name(ending) + (wasLive && !isLive ? ", gone" : "")
    }

    @Test("every other state of the cache gives the page's result, and a server's yes repairs each of them")
    func states() throws {
        let rows = try LoginPage.states()
        #expect(rows.count == 10)
        for (state, offline, cells) in rows {
            // Offline the server's answer does not count. After an answer, the mode that caused the question does not count.
            for (answer, _) in cells { #expect(try result(state, .offline, answer) == offline, "\(state), offline, \(answer)") }
            for (answer, expected) in cells {
                let online = answer == "unreachable" ? "unreachable" : expected
                #expect(try result(state, .auto, answer) == expected, "\(state), auto, \(answer)")
                #expect(try result(state, .online, answer) == online, "\(state), online, \(answer)")
            }
            // A 401 to another password deletes nothing, and all other answers give the same result.
            #expect(try result(state, .offline, "unreachable", typed: "other") == offline, "\(state), offline, other")
            for (answer, expected) in cells {
                let other = answer == "rejected" ? "rejected" : expected
                #expect(try result(state, .auto, answer, typed: "other") == other, "\(state), auto, \(answer), other")
            }
            #expect(try result(state, .auto, "untrusted") { $0.offlineOnUntrustedServer = true } == "untrusted, \(offline)")
            #expect(try result(state, .offline, "accepted", allowed: false) == "not allowed", "\(state)")
            #expect(try result(state, .auto, "unreachable", allowed: false) == "unreachable", "\(state)")
        }
    }

    @Test("a login with a prompter gives the same results in each of these states")
    func statesPrompting() throws {
        for (state, offline, cells) in try LoginPage.states() {
            #expect(try result(state, .offline, "accepted", isPrompting: true) == offline, "\(state), offline")
            for (answer, expected) in cells {
                #expect(try result(state, .auto, answer, isPrompting: true) == expected, "\(state), auto, \(answer)")
            }
        }
    }

    private func result(
        _ state: String, _ mode: ConnectivityMode, _ answer: String, typed: String = "right", allowed: Bool = true,
        isPrompting: Bool = false, _ change: @escaping (inout ProfileSettings) -> Void = { _ in }
    ) throws -> String {
        let place = MemoryLoginBackend(), clock = TestClock()
        let authenticator = place.authenticator(clock: clock)
        var profile = try serverProfile(1, maxAge: 100, change)
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        func wrong() { _ = try? authenticator.check(ada, profile, password: Password("wrong")) }
        switch state {
        case "wiped": for _ in 0..<2 { wrong() }
        case "cleared": _ = authenticator.end("right", profile, asking: TestProvider(.blocked))
        case "locked out":
            profile = try serverProfile(1, .lockout, maxAge: 100, change)
            for _ in 0..<2 { wrong() }
        case "expired": clock.advance(wall: 101, boot: 101)
        case "delayed":
            profile = try serverProfile(1, maxAge: 100) { settings in
                change(&settings)
                settings.attemptDelay = 60
            }
            wrong()
        case "damaged":
            let id = try #require(place.disk.rows.keys.first)
            place.disk.rows[id]?[60] ^= 1
        case "rolled back":
            let rows = place.disk.rows
            wrong()
            place.disk.rows = rows
        case "ledger damaged": place.disk.isUnreadable = true
        case "device key lost": place.isDeviceLost = true
        case "device key damaged": place.isDeviceDamaged = true
        default: Issue.record("no such state: \(state)")
        }
        if !allowed { profile = try serverProfile(1, allowed: false, maxAge: 100) }
        let wasLive = (try? place.row(profile))??.isLive ?? false
        let provider = try Self.provider(answer)
        let ending =
            isPrompting
            ? authenticator.end(profile, mode, prompting: Once(typed), asking: provider)
            : authenticator.end(typed, profile, mode, asking: provider)
        let isGone = wasLive && !place.isDeviceLost && !place.isDeviceDamaged && !((try? place.row(profile))??.isLive ?? false)
        if case .online(nil) = ending {
            #expect(Self.name(authenticator.end(typed, profile, .offline, asking: nil)) == "offline")
        }
        return Self.name(ending) + (isGone ? ", gone" : "")
    }

    @Test("R21 without a possible offline attempt the login asks for no password, whatever is typed and cached")
    func notAsked() throws {
        let provider = TestProvider { _, _ in .yes(nil, nil) }
        let authenticator = MemoryLoginBackend().authenticator()
        let profile = try serverProfile(3)
        #expect(authenticator.end("right", profile, .offline, asking: provider) == .refused(.noCredential))
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        for left in [2, 1, 0] {
            #expect(
                authenticator.end("wrong", profile, .offline, asking: provider)
                    == .refused(.wrongPassword(attemptsLeft: left, consequence: .wipe)))
        }
        #expect(authenticator.end("right", profile, .offline, asking: provider) == .offline(nil))
        #expect(provider.asked == 0)
    }

    @Test("an event that does not fit the state grants nothing")
    func strangeEvents() {
        let rules = LoginStateMachine.Rules(
            mode: .auto, isOfflineAllowed: true, isOfflineOnUntrusted: false, isOfflineOnServerError: false,
            hasProvider: true)
        let states: [LoginStateMachine.State] = [
            .start, .asking, .accepting, .refusing(.rejected), .checking(online: nil),
            .askingAfterWipe(isFinished: true), .refusingAfterWipe(.rejected, isFinished: true), .ended,
        ]
        let events: [LoginStateMachine.Event] = [
            .begun, .answered(nil), .answered(.rejected), .answered(.unreachable(.refused)), .settled, .opened,
            .refused(.noCredential), .wrong(.lockedOut),
        ]
        var grants: [String] = []
        for state in states {
            for event in events {
                let (_, effect) = LoginStateMachine.next(state, event, rules)
                if effect == .grantOnline || effect == .grantOffline { grants.append("\(state) \(event)") }
            }
        }
        #expect(grants == ["accepting settled", "checking(online: nil) opened"])
    }

    /// - Parameter row: selects one of several answers of a class.
    private static func provider(_ answer: String, _ row: String = "500") throws -> TestProvider {
        switch answer {
        case "accepted": TestProvider { _, _ in .yes(nil, nil) }
        case "unreachable": TestProvider(.unreachable(.refused))
        case "untrusted": TestProvider(.untrusted(.certificate))
        case "rejected": TestProvider(.rejected)
        case "forbidden": TestProvider(.forbidden(.status))
        case "blocked": TestProvider(.blocked)
        case "failed": TestProvider(Self.failures[row] ?? .failed(.brokenAnswer))
        default: throw Missing()
        }
    }

    private static let failures: [String: OnlineRefusal] = [
        "500": .failed(.serverError, status: 500), "429": .failed(.tooManyRequests, status: 429, retryAfter: 5),
        "503 + Retry-After": .failed(.serverError, status: 503, retryAfter: 120),
        "200 garbage": .failed(.unexpectedAnswer, status: 200), "301 to http": .failed(.downgraded, status: 301),
    ]

    @Test("OfflineOnServerError allows the cache after a status 500 of either protocol, and after no other status or failure")
    func serverErrors() throws {
        let answers: [OnlineRefusal] =
            [500, 501, 503, 507, 520, nil].map { .failed(.serverError, status: $0) }
            + [500, 501].map { .failed(.oauthServerError, status: $0) }
            + [.failed(.unexpectedAnswer, status: 500), .failed(.brokenAnswer), .failed(.unusableProfile, status: 500)]
        var falling: [OnlineRefusal] = []
        for answer in answers {
            let authenticator = MemoryLoginBackend().authenticator()
            let profile = try serverProfile(1) { $0.offlineOnServerError = true }
            _ = try authenticator.enroll(ada, profile, password: Password("right"))
            let ending = authenticator.end("right", profile, asking: TestProvider(answer))
            if ending == .offline(answer) { falling.append(answer) }
            if ending != .offline(answer) { #expect(ending == .refused(.online(answer))) }
        }
        #expect(falling == [.failed(.serverError, status: 500), .failed(.oauthServerError, status: 500)])
    }

    private static func name(_ ending: Ending) -> String {
        switch ending {
        case .online(nil): "online"
        case .online(.offlineNotAllowed), .online(.deviceKeyMissing), .online(.deviceKeyDamaged): "uncached"
        case .online(let reason?): "online, \(reason)"
        case .offline: "offline"
        case .refused(let error): name(error)
        }
    }

    private static func name(_ error: AuthError) -> String {
        switch error {
        case .wrongPassword: "wrong"
        case .attemptsExceeded: "exceeded"
        case .wiped: "wiped"
        case .lockedOut: "locked out"
        case .delayed: "delayed"
        case .expired: "expired"
        case .quarantined: "damaged"
        case .rolledBack: "rolled back"
        case .deviceKeyMissing: "device key lost"
        case .deviceKeyDamaged: "device key damaged"
        case .noCredential: "nothing cached"
        case .offlineNotAllowed: "not allowed"
        case .online(let refusal): name(refusal)
        case .neither(let refusal, let offline): "\(name(refusal)), \(name(offline))"
        default: "\(error)"
        }
    }

    private static func name(_ refusal: OnlineRefusal) -> String {
        switch refusal {
        case .rejected: "rejected"
        case .forbidden: "forbidden"
        case .blocked: "blocked"
        case .untrusted: "untrusted"
        case .unreachable: "unreachable"
        case .failed: "failed"
        }
    }
}

/// Types one password, and declines the next question.
private final class Once: LoginPrompter {
    private let password: String
    /// Why the password was refused.
    private(set) var refusal: AuthError?
    private var isAsked = false

    init(_ password: String) { self.password = password }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        refusal = prompt.refusal
        defer { isAsked = true }
        return isAsked ? nil : LoginInput(ada, .typed(Password(password)))
    }
}

extension Authenticator {
    fileprivate func end(
        _ profile: Profile, _ mode: ConnectivityMode, prompting person: Once, asking provider: any Provider
    ) -> Ending {
        do throws(AuthError) {
            let receipt = try login(
                profile, mode: mode, prompting: person, asking: provider,
                remembering: try? makeDeviceRememberingKey())
            switch receipt.details.mode {
            case .online(let reason): return .online(notCached: reason)
            case .offline(let online): return .offline(online)
            }
        } catch .tooManyAttempts(let last) {
            return .refused(last)
        } catch { return .refused(error == .cancelled ? person.refusal ?? error : error) }
    }
}

/// The tables of docs/reference/login.md.
enum LoginPage {
    static func lines(_ table: String) throws -> [String] {
        let path = URL(filePath: #filePath).appending(path: "../../../docs/reference/login.md").standardized
        let text = try String(contentsOf: path, encoding: .utf8)
        guard let start = text.range(of: "<!-- table \(table) -->"),
            let end = text.range(of: "<!-- end -->", range: start.upperBound..<text.endIndex)
        else { throw Missing() }
        return text[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
    }

    /// Every row except the rulers.
    static func rows(_ table: String) throws -> [[String]] {
        try lines(table).map(cells).filter { !$0.isEmpty && !$0[0].hasPrefix("---") }
    }

    static func cells(_ line: String) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The names in a cell that has several.
    static func parts(_ cell: String) -> [String] {
        cell.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The class of each answer of a server.
    static func answers() throws -> [String: String] {
        let pairs = try rows("answers").dropFirst().flatMap { row in parts(row[1]).map { ($0, row[0]) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// The keys in the line of notes below a table, by their marks.
    static func notes(_ table: String) throws -> [Character: String] {
        let marks = try lines(table).joined().matches(of: /([¹²]) only with `(\w+)`/)
        return Dictionary(uniqueKeysWithValues: marks.compactMap { mark in mark.1.first.map { ($0, String(mark.2)) } })
    }

    /// Each state of the cache with its result offline, and with its result in mode auto for each class of answer.
    static func states() throws -> [(name: String, offline: String, cells: [(answer: String, result: String)])] {
        let columns = [
            ["unreachable"], ["rejected", "blocked"], ["forbidden", "untrusted", "failed"], ["accepted"],
        ]
        return try rows("states").dropFirst().flatMap { row in
            try #require(row.count == 2 + columns.count)
            return parts(row[0]).map { name in
                let results = row.dropFirst().map { $0.replacing("the state", with: name) }
                let cells = zip(columns, results.dropFirst()).flatMap { answers, result in
                    answers.map { ($0, result.replacing("the answer", with: $0)) }
                }
                return (name, results[0], cells)
            }
        }
    }
}
