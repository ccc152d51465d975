import OMSecrets
import OMStorage
import Testing

@testable import OMAuth

@Suite("A broken log of logins") struct LogChainTests {
    /// Ten entries of one login.
    private func written() throws -> (MemoryLoginBackend, Authenticator, Profile) {
        let place = MemoryLoginBackend(), profile = try serverProfile(5), logins = place.authenticator()
        _ = logins.end("right", profile, asking: TestProvider(knowing: "right"))
        try add(9, logins, profile)
        return (place, logins, profile)
    }

    private func add(_ count: Int, _ logins: Authenticator, _ profile: Profile) throws {
        for _ in 0..<count { #expect(logins.end("right", profile, .offline, asking: nil) == .offline(nil)) }
    }

    private func begin(_ logins: Authenticator) throws -> LogFault? { try logins.beginLogChain() }
    private func log(_ logins: Authenticator) throws -> LoginLogReport { try logins.log() }

    @Test("R56 entries behind a break are shown as unproven, and entries of other devices are not shown")
    func unproven() async throws {
        let (place, logins, profile) = try written()
        place.disk.log[4] = nil
        place.disk.log[7]?[9] ^= 1
        try add(1, logins, profile)
        let report = try log(logins)
        #expect(report.fault == LogFault(sequence: 4, kind: .missing) && report.breaks.isEmpty)
        #expect(report.entries.map(\.sequence) == [1, 2, 3])
        #expect(report.unproven.map(\.sequence) == [5, 6, 8, 9, 10, 11])
    }

    @Test("a new chain proves the entries after it, names the break, and hides neither the break nor the older entries")
    func begun() async throws {
        let (place, logins, profile) = try written()
        place.disk.log[4] = nil
        #expect(try begin(logins) == LogFault(sequence: 4, kind: .missing))
        try add(2, logins, profile)
        let report = try log(logins)
        #expect(report.fault == nil && report.breaks == [LogFault(sequence: 4, kind: .missing)])
        #expect(report.entries.map(\.sequence) == [1, 2, 3, 11, 12, 13])
        #expect(report.entries[3].event == .chainBegun(brokenAt: 4))
        #expect(report.unproven.map(\.sequence) == Array(5...10))
    }

    @Test("R56 a second break before or behind a new chain is reported, so an attacker cannot hide it with a new chain")
    func hiding() async throws {
        let (place, logins, profile) = try written()
        place.disk.log[6] = nil
        _ = try begin(logins)
        try add(2, logins, profile)
        let whole = place.disk
        func fault(_ change: (inout MemoryLoginBackend.Disk) -> Void) throws -> LogFault? {
            place.disk = whole
            change(&place.disk)
            return try log(logins).fault
        }
        #expect(try fault { _ in } == nil)
        #expect(try fault { $0.log[3] = nil } == LogFault(sequence: 3, kind: .missing))
        #expect(try fault { $0.log[1] = nil } == LogFault(sequence: 1, kind: .missing))
        #expect(try fault { $0.log[12] = nil } == LogFault(sequence: 12, kind: .missing))
        #expect(try fault { $0.log[13] = nil } == LogFault(sequence: 13, kind: .missing))
        // The entry that begins the chain is changed or gone, so the first break is open again.
        #expect(try fault { $0.log[11] = nil } == LogFault(sequence: 6, kind: .missing))
        #expect(try fault { $0.log[11]?[40] ^= 1 } == LogFault(sequence: 6, kind: .missing))
        // The break itself grows. The unproven entries still prove nothing, and hide nothing.
        #expect(try fault { $0.log[8] = nil } == nil)
        place.disk = whole
        #expect(try log(logins).breaks.map(\.sequence) == [6])
    }

    @Test("a whole log gets no new chain, and nothing is written")
    func whole() async throws {
        let (place, logins, _) = try written()
        let before = place.disk.log
        #expect(try begin(logins) == nil)
        #expect(place.disk.log == before)
        #expect(try begin(MemoryLoginBackend().authenticator()) == nil)
    }

    @Test("a break may follow a new chain, and a new chain that break; after lost marks only a new chain proves entries")
    func again() async throws {
        let (place, logins, profile) = try written()
        place.disk.log[2] = nil
        _ = try begin(logins)
        try add(3, logins, profile)
        place.disk.log[13] = nil
        #expect(try log(logins).fault == LogFault(sequence: 13, kind: .missing))
        #expect(try begin(logins) == LogFault(sequence: 13, kind: .missing))
        #expect(try log(logins).fault == nil)
        #expect(try log(logins).breaks.map(\.sequence) == [2, 13])
        for id in Set(place.disk.marks.keys).subtracting(place.disk.rows.keys) { place.disk.marks[id] = nil }
        #expect(try log(logins).entries.isEmpty)
        #expect(try begin(logins) != nil)
        try add(1, logins, profile)
        #expect(try log(logins).fault == nil)
        #expect(try log(logins).entries.last?.event == .grantedOffline)
    }

    @Test("the entry of a new chain has one encoding, and goes only when it is the oldest")
    func encoding() async throws {
        #expect(try LoginEvent(20, 32) == .chainBegun(brokenAt: 32))
        #expect(LoginEvent.chainBegun(brokenAt: 32).code == (20, 32))
        #expect(!LoginEvent.chainBegun(brokenAt: 32).isCounted)
    }
}
