// Many processes on one vault at the same time: 200 in a whole run, half of them through one agent.

import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("Many processes at one vault", .onOwnThreads, .serialized) struct CrowdTests {
    private static let counters = 4, shared = 3

    @Test("the items that many processes wrote at the same time are all there, through the agent and without it")
    func crowd() async throws {
        let (processes, rounds) = (Sweep.count(200, sample: 60), Sweep.count(5, sample: 1))
        let home = try AgentHome()
        try prepare(home)
        let start = Date()
        let said = try await run(home, processes, rounds)
        let seconds = Date().timeIntervalSince(start)
        let failed = said.filter { !$0.hasPrefix("round ") && !$0.hasPrefix("done ") }
        try #require(failed.isEmpty, "\(failed.prefix(5))")
        let finished = said.filter { $0.hasPrefix("done ") }.map { $0.split(separator: " ") }
        #expect(Set(finished.map { $0[1] }).count == processes)
        let longest = finished.compactMap { Int($0[3]) }.max() ?? .max
        let busy = finished.compactMap { Int($0[5]) }.reduce(0, +)
        print(
            "\(processes) processes, \(processes * rounds * 10) writes in \(Int(seconds)) s; the longest took \(longest) ms,"
                + " \(busy) refusals as busy came after 5 s or more")
        try check(home, said.filter { $0.hasPrefix("round ") }.map(Round.init), processes, rounds)
    }

    private struct Round {
        let number, round, level, revision, counted: Int

        init(_ line: String) throws {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 5, "\(line)")
            (number, round, level, revision, counted) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        }
    }

    private func prepare(_ home: AgentHome) throws {
        let file = VaultKeyFile.random()
        try VaultFile.create(
            home.vault, device: DeviceFolder.make(home.root + "/device"),
            policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: [try NewSlot(password: Password(bytes("pass word")), .floor), NewSlot(keyFile: file)])
        for (name, text) in [("password", bytes("pass word").text), ("key", file.text().text)] {
            try Data(text.utf8).write(to: URL(filePath: home.root + "/" + name))
        }
        try home.open().edit { edit throws(VaultError) in
            for number in 0..<Self.counters {
                try edit.add(ItemName("counter \(number)"), level: nil) { draft throws(VaultError) in
                    try draft.put(bytes("0"), at: FieldName("n"))
                }
            }
            for number in 0..<Self.shared {
                try edit.add(ItemName("shared \(number)"), level: ProtectionLevel(.afterFirstUnlock)) { _ throws(VaultError) in }
            }
        }
    }

    /// Of ten processes five use the agent, four the key file and one the password.
    private func run(_ home: AgentHome, _ processes: Int, _ rounds: Int) async throws -> [String] {
        let said = try await TestSupport.run(
            [
                "/bin/bash", "-c",
                """
                cd "$1"
                mkfifo gate
                # Opened here and handed on: a worker that opened it itself might come too late for anybody to be writing.
                exec 9<> gate 8< gate
                for number in $(seq 0 $(($3 - 1))); do
                    key=$1/key password=- socket=$1/run/agent.sock
                    (( number % 10 >= 5 )) && socket=-
                    (( number % 10 == 9 )) && key=- password=$1/password
                    "$2" "$1/a.omv" "$1/device" $key $password $socket $number $4 <&8 8<&- 9>&- > said.$number 2>&1 &
                done
                exec 9>&- 8<&-
                wait
                cat said.*
                """, "crowd", home.root, Programs.worker("vault-worker"), "\(processes)", "\(rounds)",
            ], in: home.folder)
        return (said.output + said.errors).split(separator: "\n").map(String.init)
    }

    private func check(_ home: AgentHome, _ rounds: [Round], _ processes: Int, _ count: Int) throws {
        #expect(rounds.count == processes * count)
        let vault = try home.open()
        let report = try vault.verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0, "\(report.findings.prefix(3))")
        let items = try vault.items()
        #expect(items.count == rounds.count + Self.counters + Self.shared)
        #expect(try vault.items(trashed: true).isEmpty)
        #expect(report.tombstones == rounds.count)
        let byName = Dictionary(items.map { ($0.name.text, $0) }) { first, _ in first }
        for round in rounds {
            let item = try #require(byName["own \(round.number) \(round.round)"], "\(round)")
            // Six versions: added, changed, moved to another level, to the trash and back, changed.
            #expect(item.revision == 6 && round.revision == 6 && Int(item.level.code) == round.level, "\(round)")
            #expect(try vault.value(item.name, "v") == "last")
        }
        for number in 0..<Self.counters {
            let counted = rounds.filter { $0.number % Self.counters == number }.map(\.counted).reduce(0, +)
            let item = try #require(byName["counter \(number)"])
            // Each acknowledged write counts one, and a refused write counts none.
            #expect(try vault.value(item.name, "n") == "\(counted)")
            #expect(item.revision == UInt64(1 + counted) && counted > 0)
        }
        #expect(rounds.contains { $0.counted == 0 }, "no write was refused, so the conflicts were not tried")
        for number in 0..<Self.shared {
            let item = try #require(byName["shared \(number)"])
            let written = rounds.filter { $0.number % Self.shared == number }
            #expect(item.revision == UInt64(1 + written.count))
            #expect(Set(item.fields.map(\.name.text)) == Set(written.map { "w\($0.number)" }))
        }
        // Every write is in the log once, and no purge is unfinished.
        let file = try VaultFile.open(home.vault, device: DeviceFolder(home.root + "/device"))
        let log = try file.auditReport()
        #expect(log.fault == nil)
        let changes = log.entries.count { (16...21).contains($0.event.kind) }
        let all = rounds.count * 9 + rounds.map(\.counted).reduce(0, +) + Self.counters + Self.shared
        #expect(changes == all || log.entries[0].sequence > 1 && changes < all)
        let database = try VaultSchema.open(home.vault)
        #expect(try database.number("SELECT count(*) FROM pending") == 0)
    }
}

extension Vault {
    fileprivate func value(_ name: ItemName, _ field: String) throws -> String {
        try secret(FieldPath(name, FieldName(field))).text
    }
}
