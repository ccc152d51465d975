// One of many processes on one vault. It unlocks the vault once, makes mixed writes, and reports the acknowledged writes.
// Started by Tests/OMAgentTests/CrowdTests.swift; it is part of no product.
//
//   vault-worker VAULT DEVICE-FOLDER KEY-FILE|- PASSWORD-FILE|- SOCKET|- NUMBER ROUNDS

import Glibc
import OMAgent
import OMAgentProtocol
import OMItems
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import OMVault

@main
enum Worker {
    static func main() {
        do {
            let words = CommandLine.arguments
            guard words.count == 8, let number = Int(words[6]), let rounds = Int(words[7]) else { exit(2) }
            let arguments = WorkerArguments(
                vault: words[1], device: words[2], keyFile: words[3], password: words[4], socket: words[5])
            // All begin at once, when the test closes the other end.
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            let crowd = try Crowd(arguments.unlock(), number)
            for round in 0..<rounds { try crowd.work(round) }
            print("done \(number) longest \(crowd.longest) busy \(Patience.busy)")
        } catch {
            print("failed \(error)")
            exit(1)
        }
    }
}

/// The vault's place, and this process's way to open it.
private struct WorkerArguments {
    let vault, device, keyFile, password, socket: String

    /// One unlock. With the agent, the agent is unlocked.
    func unlock() throws -> any Asked {
        let file = try VaultFile.open(vault, device: try DeviceFolder(device))
        let vault = try self.vault(file)
        guard socket != "-" else { return OpenHere(vault) }
        guard let paths = VaultPaths(vault: self.vault, device: device) else { throw Unexpected.answer }
        let client = AgentClient(try AgentSocket(path: socket))
        let keys = vault.classKeys()
        _ = try Patience.ask { try client.unlock(paths, keys, openedBy: nil, idle: 0, hard: 0) }.get()
        return OpenInAgent(client: client, paths: paths)
    }

    private func vault(_ file: borrowing VaultFile) throws -> Vault {
        let kind: KeySlot.Kind = keyFile == "-" ? .password : .keyFile
        guard let slot = file.slots.first(where: { $0.kind == kind }) else { throw Unexpected.answer }
        guard kind == .keyFile else {
            return try file.unlock(slot, with: try slot.key(stretching: try secret(password)))
        }
        return try file.unlock(slot, with: try VaultKeyFile(text: try secret(keyFile)).key())
    }

    private func secret(_ path: String) throws -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        close(descriptor)
        guard count > 0 else { throw Unexpected.answer }
        return SecretBytes(copying: Array(bytes.prefix(count)))
    }
}

private enum Unexpected: Error {
    case answer
    case value(String)
    case locked
}

/// Repeats a write that was refused because the vault is busy. No process may be refused for five seconds.
private enum Patience {
    /// The number of times that this process was refused as busy.
    nonisolated(unsafe) static var busy = 0

    static func ask<R: ~Copyable>(_ question: () throws -> R) throws -> R {
        while true {
            let start = milliseconds()
            do { return try question() } catch {
                let isBusy = error as? AgentError == .busy || error as? VaultError == .storage(.busy)
                guard isBusy, milliseconds() - start >= 5_000 else { throw error }
                busy += 1
            }
        }
    }
}

private func milliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

private protocol Asked {
    func perform(_ request: consuming ItemRequest) throws -> ItemReply
}

private final class OpenHere: Asked {
    private let vault: Vault
    init(_ vault: consuming Vault) { self.vault = vault }
    func perform(_ request: consuming ItemRequest) throws -> ItemReply { try vault.perform(request) }
}

private struct OpenInAgent: Asked {
    let client: AgentClient
    let paths: VaultPaths

    func perform(_ request: consuming ItemRequest) throws -> ItemReply {
        switch try client.perform(paths, request) {
        case .reply(let reply): return reply
        case .failure(let error): throw error
        case .locked: throw Unexpected.locked
        }
    }
}

/// The writes of one process: ten a round, on items of its own and on items that all of them change.
private final class Crowd {
    private let vault: any Asked
    private let number: Int
    /// The longest time of one write, in milliseconds.
    private(set) var longest = 0

    init(_ vault: any Asked, _ number: Int) { (self.vault, self.number) = (vault, number) }

    func work(_ round: Int) throws {
        let own = try ItemName("own \(number) \(round)")
        _ = try write(.add(own, level: nil, ItemChange(set: try values("v", "first"))))
        _ = try write(.update(own, ItemChange(set: try values("v", "second")), ifRevision: nil))
        guard try text(own, "v") == "second" else { throw Unexpected.value(own.text) }
        let levels = ProtectionLevel.allCases.filter { $0 != .whenUnlocked }
        _ = try write(.setLevel(own, levels[(number + round) % levels.count], ifRevision: nil))
        let isCounted = try count(try ItemName("counter \(number % 4)"))
        let shared = try ItemName("shared \(number % 3)")
        _ = try write(.update(shared, ItemChange(set: try values("w\(number)", "\(round)")), ifRevision: nil))
        _ = try write(.trash([own], ifRevision: nil))
        _ = try write(.restore(own, id: nil, revision: nil))
        let gone = try ItemName("gone \(number) \(round)")
        _ = try write(.add(gone, level: nil, ItemChange(set: try values("v", "canary of \(number)"))))
        _ = try write(.purge([gone], ifRevision: nil))
        let last = try write(.update(own, ItemChange(set: try values("v", "last")), ifRevision: nil))
        print("round \(number) \(round) level \(last?.level.code ?? 0) revision \(last?.revision ?? 0) counted \(isCounted)")
    }

    /// One more write, unless another process wrote first. Then the change is refused, and nothing is added.
    private func count(_ name: ItemName) throws -> Int {
        guard case .secrets(let item, let values) = try Patience.ask({ try vault.perform(.secrets(name, revision: nil)) }),
            let text = values.withSecret(try FieldName("n"), { $0.text }), let number = Int(text)
        else { throw Unexpected.answer }
        do {
            _ = try write(
                .update(name, ItemChange(set: try self.values("n", "\(number + 1)")), ifRevision: item.revision))
            return 1
        } catch let error as VaultError {
            guard case .changedMeanwhile(name, let found) = error, found != item.revision else { throw error }
            return 0
        }
    }

    private func write(_ request: @autoclosure () throws -> ItemRequest) throws -> Item? {
        let start = milliseconds()
        defer { longest = max(longest, milliseconds() - start) }
        switch try Patience.ask({ try vault.perform(try request()) }) {
        case .changed(let item, _): return item
        case .removed(let items, _): return items.first
        default: throw Unexpected.answer
        }
    }

    private func values(_ field: String, _ value: String) throws -> FieldValues {
        var values = FieldValues()
        try values.put(SecretBytes(copying: Array(value.utf8)), at: try FieldName(field))
        return values
    }

    private func text(_ item: ItemName, _ field: String) throws -> String {
        let path = FieldPath(item, try FieldName(field))
        guard case .secret(let secret) = try Patience.ask({ try vault.perform(.secret(path, revision: nil)) })
        else { throw Unexpected.answer }
        return secret.text
    }
}

extension SecretBytes {
    fileprivate var text: String { withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } }
}
