// The input of `add --from-jsonl`: its limits, its lines, and what is wrong with them.

internal import OMItems
internal import OMJSON
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The items of an input, each with the number of its line. All lines are checked before the first item is used.
struct ItemLines {
    /// The largest input: 8 MiB. With it, all items are one request to the agent.
    static let maximumCount = 8 << 20

    private(set) var items: [NewItem] = []
    /// The numbers of the lines, from 1, in the order of ``items``.
    private var numbers: [Int] = []

    /// - Parameters:
    ///   - level: The level for every item. Nil for the level that the line has, or else the vault's default.
    ///   - bar: Advances with each line.
    /// - Throws: The error of the first line that is wrong; ``ExitStatus/usage`` if there is no item or there are too many.
    init(_ input: borrowing SecretBytes, level: ProtectionLevel?, _ bar: Progress) throws {
        var seen: [ItemName: Int] = [:]
        var number = 0
        var found = ItemLines()
        try input.withBytes { bytes in
            try bytes.forEachLine { line in
                number += 1
                bar.add(line.count + 1)
                guard line.indices.contains(where: { !JSONText.isSpace(line[$0]) }) else { return }
                let item = try Self.item(line, number, level)
                if let other = seen.updateValue(number, forKey: item.name) {
                    let message = "the name of line \(other) again: \"\(item.name.text.shown)\""
                    throw Failure(.exists, message, hint: "give each item a name of its own").of(line: number)
                }
                guard found.items.count < NewItem.maximumAtOnce else {
                    throw Failure(
                        .usage, "the input has more than \(NewItem.maximumAtOnce) items; nothing was stored",
                        hint: "split it into several files")
                }
                found.items.append(item)
                found.numbers.append(number)
            }
        }
        guard !found.items.isEmpty else {
            throw Failure(
                .usage, "the input has no item; nothing was stored",
                hint: "each line is one item, as omvault show ITEM --reveal --json prints it")
        }
        self = found
    }

    private init() {}

    private static func item(_ line: Span<UInt8>, _ number: Int, _ level: ProtectionLevel?) throws -> NewItem {
        do { return try ItemLine.item(line, level: level) } catch let error as MalformedJSON {
            throw Failure(
                .usage, "not JSON at byte \(error.position + 1): \(error.problem)", hint: "each line is one JSON object"
            ).of(line: number)
        } catch let failure as Failure { throw failure.of(line: number) }
    }

    /// - Throws: ``ExitStatus/exists`` for the first line whose item is in the vault already.
    func refuse(existing: ItemNames, vault: String) throws(Failure) {
        let names = Set(existing.names)
        for (item, number) in zip(self.items, numbers) where names.contains(item.name) {
            throw Failure(VaultError.itemExists(item.name), vault: vault).of(line: number)
        }
    }

    /// An error of the vault about one of the items gets the number of its line.
    func located(_ failure: Failure) -> Failure {
        guard case .itemExists(let name)? = failure.vaultError, let index = items.firstIndex(where: { $0.name == name }) else {
            return failure
        }
        return failure.of(line: numbers[index])
    }
}

extension Failure {
    /// The same about a line of the input.
    fileprivate func of(line number: Int) -> Failure {
        Failure(
            status, "line \(number): \(message); nothing was stored", hints: hints, details: ["line": .number(number)]
        ).with(sdkCode: sdkCode)
    }
}
