import Foundation
import OMOnlineModel
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMAuth

@Suite struct LoginLogTests {
    @Test(
        "R56 an entry that is dropped, moved, edited, doubled or cut off is named, and an untouched log is whole")
    func tampering() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        for _ in 0..<4 { _ = authenticator.end("right", profile, .offline, asking: nil) }
        // Another history of the same device, put back later. Its sixth entry is authentic and different.
        let early = place.disk
        _ = authenticator.end("wrong", profile, .offline, asking: nil)
        let forked = place.disk.log[6]
        place.disk = early
        for _ in 0..<5 { _ = authenticator.end("right", profile, .offline, asking: nil) }
        let whole = place.disk
        let report = try authenticator.log()
        #expect(report.fault == nil && report.entries.map(\.sequence) == Array(1...10))
        #expect(
            report.entries.map(\.event) == [.enrolled(isReplaced: false)] + Array(repeating: .grantedOffline, count: 9))
        #expect(Set(report.entries.compactMap(\.login)).count == 1)
        func fault(_ change: (inout MemoryLoginBackend.Disk) -> Void) throws -> LogFault? {
            place.disk = whole
            change(&place.disk)
            return try authenticator.log().fault
        }
        #expect(try fault { $0.log[4] = nil } == LogFault(sequence: 4, kind: .missing))
        #expect(
            try fault { ($0.log[4], $0.log[5]) = ($0.log[5], $0.log[4]) } == LogFault(sequence: 4, kind: .changed))
        #expect(try fault { $0.log[6] = forked } == LogFault(sequence: 7, kind: .changed))
        #expect(try fault { $0.log[1] = nil } == LogFault(sequence: 1, kind: .missing))
        #expect(try fault { $0.log[10] = nil } == LogFault(sequence: 10, kind: .missing))
        #expect(try fault { $0.log[11] = $0.log[10] } == LogFault(sequence: 11, kind: .added))
        #expect(try fault { $0.log[12] = $0.log[10] } == LogFault(sequence: 12, kind: .added))
        #expect(try fault { $0.log = [:] } == LogFault(sequence: 1, kind: .missing))
        for offset in 0..<LoginLogEntry.count {
            #expect(
                try fault { $0.log[6]![offset] ^= 4 } == LogFault(sequence: 6, kind: .changed), "offset \(offset)")
        }
        // The end is cut off together with its mark, so the next entry leaves a permanent gap.
        let logMark = Set(whole.marks.keys).subtracting(whole.rows.keys)
        _ = try fault { disk in
            for sequence in UInt64(8)...10 { disk.log[sequence] = nil }
            for id in logMark { disk.marks[id] = nil }
        }
        _ = authenticator.end("right", profile, .offline, asking: nil)
        #expect(try authenticator.log().fault == LogFault(sequence: 8, kind: .missing))
    }

    @Test("a log with a gap stops no login, and grows behind the gap")
    func hole() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        _ = authenticator.end("right", profile, .offline, asking: nil)
        place.disk.log = [:]
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(Array(place.disk.log.keys) == [3])
    }

    @Test("the log keeps the newest ten thousand entries")
    func bounded() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        guard let store = try authenticator.openIfPresent() else { throw Missing() }
        let log = store.log
        func add(_ count: Int) throws {
            try log.hold { (entries: inout LoginLog.Entries) throws(AuthError) in
                try entries.append(Array(repeating: .grantedOffline, count: count), nil, at: 1)
            }
        }
        try add(Int(LogChain.capacity) - 1)
        #expect(place.disk.log.count == Int(LogChain.capacity))
        for _ in 0..<3 { try add(1) }
        #expect(place.disk.log.count == Int(LogChain.capacity) && place.disk.log[3] == nil)
        #expect(try authenticator.log().fault == nil)
    }

    @Test("refused unknown users share one entry for each kind of refusal, with a count and both times")
    func unknownUsers() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(5)
        let authenticator = place.authenticator(clock: clock)
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        let start = clock.read().wall
        for number in 0..<300 {
            clock.advance(wall: 1, boot: 1)
            let user = try UserName("stranger \(number)")
            for answer in [OnlineRefusal.unreachable(.refused), .rejected, .forbidden(.status)] {
                _ = authenticator.end("guess", profile, user: user, asking: TestProvider(answer))
            }
            try authenticator.end(user, profile, after: .logout)
        }
        let report = try authenticator.log()
        #expect(report.fault == nil)
        #expect(
            report.entries.map(\.event) == [
                .enrolled(isReplaced: false), .grantedOffline, .refused(.noCredential), .refusedOnline(.rejected),
                .refusedOnline(.forbidden), .loggedOut(isCleared: false),
            ])
        #expect(report.entries.map(\.count) == [1, 1, 300, 300, 300, 300])
        for entry in report.entries.suffix(4) {
            #expect(entry.login == nil && entry.first == start + 1 && entry.time == start + 300)
        }
        // An event that needs a password ends the counted tail, and later events are counted from one again.
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        _ = authenticator.end("guess", profile, .offline, user: try UserName("eve"), asking: nil)
        #expect(try authenticator.log().entries.suffix(2).map(\.count) == [1, 1])
    }

    @Test("handouts of tokens that differ only in the process are one entry, and their count is not lost")
    func handouts() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(5)
        let authenticator = place.authenticator(clock: clock), key = LoginKey(ada, profile)
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        func given(_ process: UInt32, _ program: String = "/bin/sh", scopes: [String] = ["a", "b"]) -> TokenHandout {
            TokenHandout(user: 1000, process: process, program: program, scopes: scopes, of: key)
        }
        let start = clock.read().wall
        for process in UInt32(1)...500 {
            try authenticator.note(given(process), times: process == 500 ? 1_000 : 1, of: key)
            clock.advance(wall: 1, boot: 1)
        }
        try authenticator.note(given(7, "/bin/other"), times: 3, of: key)
        try authenticator.note(given(7, scopes: []), times: 1, of: key)
        // Too long texts are cut, and still an entry.
        let long = String(repeating: "ü", count: 200)
        try authenticator.note(given(8, "/" + long, scopes: ["a", long, long, long]), times: 1, of: key)
        let report = try authenticator.log()
        #expect(report.fault == nil)
        #expect(
            report.entries.dropFirst().map(\.event) == [
                .tokenGiven(given(500)), .tokenGiven(given(7, "/bin/other")), .tokenGiven(given(7, scopes: [])),
                .tokenGiven(given(8, String(repeating: "ü", count: 127), scopes: ["a", long])),
            ])
        #expect(report.entries.map(\.count) == [1, 1_499, 3, 1, 1])
        #expect(report.entries[1].first == start && report.entries[1].time == start + 499)
        #expect(Set(report.entries.compactMap(\.login)).count == 1)
        // Each byte counts.
        let whole = place.disk, count = try #require(whole.log[2]).count
        #expect(count > LoginLogEntry.count)
        for offset in 0..<count {
            place.disk.log[2]![offset] ^= 4
            #expect(try authenticator.log().fault == LogFault(sequence: 2, kind: .changed), "offset \(offset)")
            place.disk = whole
        }
        // A count that is full begins another entry.
        try authenticator.note(given(9), times: .max, of: key)
        try authenticator.note(given(9), times: 2, of: key)
        #expect(try authenticator.log().entries.map(\.count) == [1, .max, 3, 1, 1, 2])
    }

    @Test("a handout of a login without a credential makes the ledger, and names the login; another user stays unnamed")
    func handoutsOfSessions() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(5)
        let authenticator = place.authenticator(clock: clock)
        for (number, user) in [ada, try UserName("bob"), ada].enumerated() {
            let key = LoginKey(user, profile)
            let handout = TokenHandout(user: 1000, process: UInt32(number), program: "/bin/sh", scopes: ["a"], of: key)
            try authenticator.note(handout, times: 1, of: key)
        }
        let report = try authenticator.log()
        #expect(report.fault == nil && report.entries.map(\.count) == [2, 1])
        let owners = report.entries.map { entry in
            if case .tokenGiven(let handout) = entry.event { "\(handout.owner.text) \(handout.profile.text)" } else { "" }
        }
        #expect(owners == ["ada \(profile.name.text)", "bob \(profile.name.text)"])
        #expect(Set(report.entries.map(\.login)).count == 2 && report.entries.allSatisfy { $0.login != nil })
    }

    @Test("uncharged refusals are counted for each known login")
    func uncharged() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), bob = try UserName("bob")
        let authenticator = place.authenticator(clock: clock)
        let locked = try serverProfile(1, .lockout)
        for user in [ada, bob] { _ = try authenticator.enroll(user, locked, password: Password("right")) }
        for user in [ada, bob] {
            for _ in 0..<2 { _ = authenticator.end("wrong", locked, .offline, user: user, asking: nil) }
        }
        for _ in 0..<200 {
            for user in [ada, bob] {
                #expect(authenticator.end("right", locked, .offline, user: user, asking: nil) == .refused(.lockedOut))
                _ = authenticator.end("wrong", locked, .online, user: user, asking: TestProvider(.rejected))
            }
        }
        let report = try authenticator.log()
        #expect(report.fault == nil)
        let refused = report.entries.filter { $0.event == .refused(.lockedOut) }
        #expect(Set(refused.map(\.login)).count == 2 && refused.reduce(0) { $0 + $1.count } == 400)
        // Each login gets at most two comparisons. They are charged, and each ends the tail.
        #expect(report.entries.count { if case .compared = $0.event { true } else { false } } == 4)
        #expect(report.entries.count < 40, "\(report.entries.count) entries")
    }

    @Test("R56 a counted entry that is edited, dropped, doubled or put back is named")
    func tamperingWithCounts() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        func knock(_ answer: OnlineRefusal) throws {
            _ = authenticator.end("guess", profile, .online, user: try UserName("eve"), asking: TestProvider(answer))
        }
        for _ in 0..<2 { try [.rejected, .blocked, .forbidden(.status)].forEach(knock) }
        let former = place.disk.log
        try knock(.blocked)
        let whole = place.disk
        #expect(try authenticator.log().fault == nil)
        #expect(try authenticator.log().entries.map(\.count) == [1, 2, 3, 2])
        func fault(_ change: (inout [UInt64: [UInt8]]) -> Void) throws -> LogFault? {
            place.disk = whole
            change(&place.disk.log)
            return try authenticator.log().fault
        }
        for sequence in UInt64(2)...4 {
            for offset in 0..<LoginLogEntry.count {
                #expect(
                    try fault { $0[sequence]![offset] ^= 1 } == LogFault(sequence: sequence, kind: .changed),
                    "entry \(sequence), offset \(offset)")
            }
            #expect(try fault { $0[sequence] = nil } == LogFault(sequence: sequence, kind: .missing))
        }
        // The state before the last one was counted.
        #expect(try fault { $0[3] = former[3] } == LogFault(sequence: 4, kind: .changed))
        #expect(try fault { $0[4] = former[4] } == LogFault(sequence: 4, kind: .changed))
        #expect(try fault { $0 = former } == LogFault(sequence: 4, kind: .changed))
        #expect(try fault { $0[5] = $0[4] } == LogFault(sequence: 5, kind: .added))
    }

    @Test("crashes between an entry's new count and its mark leave the log whole")
    func crashWhileCounting() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        func knock(power: Int?) throws {
            place.power = power
            _ = authenticator.end("guess", profile, .offline, user: try UserName("eve"), asking: nil)
            place.power = nil
            #expect(try authenticator.log().fault == nil)
        }
        try knock(power: nil)
        let head = place.disk.log[2]
        // The commit is on the disk, and the mark is not.
        try knock(power: 1)
        #expect(place.disk.log[2] != head)
        #expect(try authenticator.log().entries.map(\.count) == [1, 2])
        for _ in 0..<2 { try knock(power: 1) }
        try knock(power: nil)
        try knock(power: nil)
        // After a step that the mark does not know, each event is a separate entry until the mark is written.
        #expect(try authenticator.log().entries.map(\.count) == [1, 2, 1, 1, 2])
    }

    @Test("planted rows in the log are named, and the next entry drops them and says so", arguments: [false, true])
    func planted(isMarkGone: Bool) throws {
        let home = try Home(), profile = try serverProfile(5), authenticator = home.authenticator()
        try home.enroll(profile)
        for sequence in [Int64.max, 7, 0, -1, Int64.min] {
            let before = try authenticator.log().entries.count
            try home.database().execute("INSERT INTO log VALUES (\(sequence), x'00')")
            #expect(try authenticator.log().fault?.kind == .added)
            if isMarkGone {
                let (folder, kept) = (home.backend.device, try home.markPath(profile))
                let marks = try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
                for mark in marks where mark.hasSuffix(".mark") && mark != kept {
                    try FileManager.default.removeItem(atPath: mark)
                }
            }
            #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
            #expect(try home.database().number("SELECT count(*) FROM log WHERE sequence > 100 OR sequence < 1") == 0)
            let report = try authenticator.log()
            guard !isMarkGone else {
                // The skipped number stays a gap.
                #expect(report.fault?.kind == .missing)
                return
            }
            #expect(report.fault == nil)
            let told = report.entries.dropFirst(before).map(\.event)
            #expect(told == (sequence > 0 ? [.strayRows(first: UInt64(sequence))] : []) + [.grantedOffline])
        }
    }

    @Test("no file has a password or a name in clear, and an unknown user has no id")
    func canaries() throws {
        let home = try Home(), profile = try serverProfile(3), authenticator = home.authenticator()
        let unknown = try UserName("canary-of-an-unknown-user")
        for password in ["canary-wrong", "canary-right"] {
            _ = authenticator.end(password, profile, asking: TestProvider(knowing: "canary-right"))
            _ = authenticator.end(password, profile, .offline, asking: nil)
        }
        _ = authenticator.end("canary-wrong", profile, .offline, asking: nil)
        #expect(
            authenticator.end("canary-typed", profile, .offline, user: unknown, asking: nil) == .refused(.noCredential))
        #expect(try home.files(holding: Array("canary".utf8)) == [])
        let report = try authenticator.log()
        #expect(report.fault == nil)
        #expect(report.entries.last?.event == .refused(.noCredential) && report.entries.last?.login == nil)
        // There is one entry for each decision.
        #expect(
            report.entries.map(\.event) == [
                .grantedOnline(isCached: true), .grantedOffline, .wrongPassword(attemptsLeft: 2),
                .refused(.noCredential),
            ])
    }
}
