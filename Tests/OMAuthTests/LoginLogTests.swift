import Foundation
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMAuth

@Suite struct LoginLogTests {
    @Test(
        "R56 an entry that is dropped, moved, edited, doubled or cut off is named; a log that nobody touched is whole")
    func tampering() throws {
        let place = MemoryPlace(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        for _ in 0..<4 { _ = authenticator.end("right", profile, .offline, asking: nil) }
        // Another history of the same device, put back later: its sixth entry is authentic, and was another.
        let early = place.disk
        _ = authenticator.end("wrong", profile, .offline, asking: nil)
        let forked = place.disk.log[6]
        place.disk = early
        for _ in 0..<5 { _ = authenticator.end("right", profile, .offline, asking: nil) }
        let whole = place.disk
        let trail = try authenticator.log()
        #expect(trail.fault == nil && trail.entries.map(\.sequence) == Array(1...10))
        #expect(
            trail.entries.map(\.event) == [.enrolled(isReplaced: false)] + Array(repeating: .grantedOffline, count: 9))
        #expect(Set(trail.entries.compactMap(\.login)).count == 1)
        func fault(_ change: (inout MemoryPlace.Disk) -> Void) throws -> LogFault? {
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
        // The end cut off together with its mark: the next entry leaves a gap for good.
        let logMark = Set(whole.marks.keys).subtracting(whole.rows.keys)
        _ = try fault { disk in
            for sequence in UInt64(8)...10 { disk.log[sequence] = nil }
            for id in logMark { disk.marks[id] = nil }
        }
        _ = authenticator.end("right", profile, .offline, asking: nil)
        #expect(try authenticator.log().fault == LogFault(sequence: 8, kind: .missing))
    }

    @Test("a log with a hole does not stand in the way of a login, and is written on behind it")
    func hole() throws {
        let place = MemoryPlace(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        _ = authenticator.end("right", profile, .offline, asking: nil)
        place.disk.log = [:]
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(Array(place.disk.log.keys) == [3])
    }

    @Test("the newest ten thousand entries are kept")
    func bounded() throws {
        let place = MemoryPlace(), profile = try serverProfile(5), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        guard let store = try authenticator.openAny() else { throw Missing() }
        let log = store.log
        func add(_ count: Int) throws {
            try log.hold { (entries: inout LoginLog.Entries) throws(AuthError) in
                try entries.append(Array(repeating: .grantedOffline, count: count), nil, at: 1)
            }
        }
        try add(Int(LoginLog.capacity) - 1)
        #expect(place.disk.log.count == Int(LoginLog.capacity))
        for _ in 0..<3 { try add(1) }
        #expect(place.disk.log.count == Int(LoginLog.capacity) && place.disk.log[3] == nil)
        #expect(try authenticator.log().fault == nil)
    }

    @Test("nothing of a password, and no name, is ever in a file; one who is unknown has no id either")
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
        let trail = try authenticator.log()
        #expect(trail.fault == nil)
        #expect(trail.entries.last?.event == .refused(.noCredential) && trail.entries.last?.login == nil)
        // One entry a decision.
        #expect(
            trail.entries.map(\.event) == [
                .grantedOnline(isCached: true), .grantedOffline, .wrongPassword(attemptsLeft: 2),
                .refused(.noCredential),
            ])
    }
}
