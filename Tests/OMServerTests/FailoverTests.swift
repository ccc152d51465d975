#if Server
// The loss of the primary database and of a server, while devices push over HTTP. docs/guide/run-a-server.md.

import Foundation
import TestSupport
import Testing

@Suite("The loss of a database and of a server") struct FailoverTests {
    /// A script of Tests/Servers that answers each line with `KEY=VALUE` lines and "ready".
    private final class Told: Sendable {
        private let name: String
        private let program: Companion
        private let folder: TestFolder
        let facts: [String: String]

        private struct Ended: Error { let at, errors: String }

        init(_ name: String, _ arguments: [String], in folder: TestFolder) async throws {
            let script = Programs.serve.replacing("serve", with: name)
            program = try Companion(
                ["/usr/bin/python3", "-B", script] + arguments, in: folder,
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
            (self.name, self.folder) = (name, folder)
            facts = try await Self.answer(of: program, name, folder)
        }

        private static func answer(
            of program: Companion, _ what: String, _ folder: TestFolder
        ) async throws -> [String: String] {
            var facts: [String: String] = [:]
            while let line = await program.line() {
                if line == "ready" { return facts }
                facts[String(line.prefix { $0 != "=" })] = String(line.drop { $0 != "=" }.dropFirst())
            }
            let errors = FileManager.default.contents(atPath: folder.file("errors")) ?? Data()
            throw Ended(at: what, errors: String(decoding: errors, as: UTF8.self))
        }

        @discardableResult
        func callAsFunction(_ line: String) async throws -> [String: Int] {
            program.say(line)
            return try await Self.answer(of: program, "\(name): \(line)", folder).mapValues { Int($0) ?? -1 }
        }
    }

    /// A primary and a standby, which listen on a socket each.
    private static func pair(_ kind: String) async throws -> Told { try await Told("postgres.py", [kind], in: TestFolder()) }

    /// Devices that push to two servers with one database.
    private struct Devices {
        let tell: Told

        init(_ url: String) async throws {
            let folder = try TestFolder()
            tell = try await Told("pushes.py", [#require(Programs.server), url, folder.path], in: folder)
        }

        /// Pushes, and waits until each device has pushed `least` times in all. Those that have more go on.
        func push(_ count: Int, least: Int) async throws {
            // A server may refuse for a moment, as a busy one does. Then the same push is sent again.
            repeat { try await tell("push \(count)") } while try await tell("wait \(least)")["least"]! < least
        }

        /// - Returns: How many devices have a push under way, and the fewest acknowledged pushes of a device.
        func state() async throws -> (going: Int, least: Int) {
            let state = try await tell("state")
            return (state["devices"]! - state["stopped"]!, state["least"]!)
        }

        /// Waits until no device has a push under way.
        ///
        /// - Returns: The fewest acknowledged pushes of a device.
        @discardableResult
        func stopped() async throws -> Int {
            try await tell("wait \(Int32.max)")["least"]!
        }

        /// - Returns: How many acknowledged pushes are not there. All that is there is whole.
        func lost() async throws -> Int {
            let found = try await tell("read")
            #expect(found["damaged"] == 0 && found["heads"]! > 0 && found["packs"]! > found["heads"]!, "\(found)")
            return found["lost"]!
        }
    }

    @Test("with a quorum standby no acknowledged push is lost, and the server that is left goes on with the standby")
    func quorum() async throws {
        let pair = try await Self.pair("sync")
        let devices = try await Devices(pair.facts["both"]!)
        try await devices.push(20, least: 5)
        try await pair("freeze")
        try await devices.tell("push 5")
        // Each push now waits for the standby, with its pack or its head, until an administrator cancels the wait.
        repeat { try await pair("cancel") } while try await devices.state().going > 0
        // Their rows are on the primary, where the same push finds them. It must wait too.
        try await devices.tell("push 5")
        while try await devices.state().going > pair("waiting")["waiting"]! {}
        try await devices.tell("kill")
        try await pair("kill")
        let least = try await devices.stopped()
        try await pair("promote")
        // A device cannot go on behind a head that is lost.
        try #require(try await devices.lost() == 0)
        try await devices.push(5, least: least + 5)
        try await devices.stopped()
        #expect(try await devices.lost() == 0)
    }

    /// The control: the same loss must show where a commit does not wait for the standby.
    @Test("with an asynchronous standby acknowledged pushes are lost")
    func asynchronous() async throws {
        let pair = try await Self.pair("async")
        let devices = try await Devices(pair.facts["both"]!)
        try await devices.push(20, least: 5)
        try await pair("freeze")
        let least = try await devices.state().least
        // One push of each device may have been under way. The next one is not on the standby.
        try await devices.push(20, least: least + 2)
        try await devices.tell("kill")
        try await pair("kill")
        try await devices.stopped()
        try await pair("promote")
        #expect(try await devices.lost() > 0)
    }

    @Test("of two servers with one database one is killed under load: no acknowledged push is lost, and its devices go on")
    func server() async throws {
        let place = try await TestStore(.postgres)
        let devices = try await Devices(place.text)
        try await devices.push(20, least: 5)
        try await devices.tell("kill")
        try await devices.push(20, least: 20)
        try await devices.stopped()
        #expect(try await devices.lost() == 0)
    }
}
#endif
