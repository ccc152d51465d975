// Handouts of access tokens on their way into the log. The test sets the clock and keeps what is written.

import OMAuth
import OMSystem
import Synchronization
import Testing

@testable import OMAgent

@Suite("Handouts of tokens in the log") struct HandoutLogTests {
    private final class Written: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let clock = SessionClock()
    private let written = Written()

    private func log() -> HandoutLog {
        HandoutLog(clock: { clock.read() }) { [written] login, handout, times in
            written.add("\(login.key.user.text) \(handout.program) \(handout.process) \(handout.scopes) \(times)")
        }
    }

    private func handout(_ process: UInt32, _ program: String = "sh", scopes: [String] = ["a"]) throws -> TokenHandout {
        TokenHandout(user: 1, process: process, program: program, scopes: scopes, of: try sessionLogin().key)
    }

    @Test("the first handout is written at once, and equal ones of the next minute together")
    func together() throws {
        let log = log(), login = try sessionLogin(), other = try sessionLogin("bob")
        #expect(try !log.note(handout(1), of: login) && log.nextDue == nil)
        #expect(written.all == ["ada sh 1 a 1"])
        clock.advance(59)
        for process in UInt32(2)...1_000 { #expect(try log.note(handout(process), of: login)) }
        #expect(written.all.count == 1 && log.nextDue == 5_060)
        log.write(log.takeDue())
        #expect(written.all.count == 1)
        // Another program, login or set of scopes is another line.
        #expect(try !log.note(handout(1, "bash"), of: login) && !log.note(handout(1), of: other))
        #expect(try !log.note(handout(1, scopes: []), of: login))
        #expect(written.all.dropFirst() == ["ada bash 1 a 1", "bob sh 1 a 1", "ada sh 1  1"])
        clock.advance(1)
        log.write(log.takeDue())
        #expect(written.all.dropFirst(4) == ["ada sh 1000 a 999"] && log.nextDue == nil)
        log.write(log.takeDue())
        #expect(written.all.count == 5)
    }

    @Test("a handout after the minute takes those along that still wait")
    func late() throws {
        let log = log(), login = try sessionLogin()
        for process in UInt32(1)...3 { _ = log.note(try handout(process), of: login) }
        clock.advance(60)
        #expect(try !log.note(handout(4), of: login))
        #expect(written.all == ["ada sh 1 a 1", "ada sh 4 a 3"])
        #expect(try log.note(handout(5), of: login) && log.nextDue == 5_120)
    }

    @Test("at the end everything is written, and a crowd of programs fills no memory")
    func bounded() throws {
        let log = log(), login = try sessionLogin()
        for number in 0..<300 { for _ in 0..<2 { _ = log.note(try handout(1, "p\(number)"), of: login) } }
        // Those that are collected once more, and those that were written one by one.
        #expect(written.all.count == 300 + 44)
        log.write(log.takeDue(all: true))
        #expect(written.all.count == 600 && log.nextDue == nil)
        // Programs whose minute is over make room.
        for number in 0..<HandoutLog.maximum { _ = log.note(try handout(1, "q\(number)"), of: login) }
        clock.advance(60)
        _ = log.note(try handout(1, "r"), of: login)
        #expect(try log.note(handout(1, "r"), of: login))
    }
}
