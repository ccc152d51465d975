internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMVault

/// `ITEM NEW`, or `ITEM… PREFIX/`, as `mv` and `cp` take it.
struct NewNames: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The item and the new name. Or one or more items and a prefix that ends with /: each gets the prefix and the last "
                + "part of its name.", valueName: "name"),
        completion: .items)
    var names: [String] = []

    @Option(help: ArgumentHelp("Do it only if the item has this revision; otherwise exit 12.", valueName: "n"))
    var ifRev: UInt64?

    func validate() throws {
        switch names.count {
        case 0: throw ValidationError("no item given")
        case 1: throw ValidationError("no new name given for \"\(names[0].shown)\"")
        case 2: break
        default:
            guard names[names.count - 1].hasSuffix("/") else {
                throw ValidationError("several items need a prefix that ends with /, such as work/")
            }
            if ifRev != nil { throw ValidationError("--if-rev needs exactly one item") }
        }
    }

    /// The items with their new names, in the order of the line.
    func parsed() throws(Failure) -> [NewName] {
        let target = names[names.count - 1]
        var parsed: [NewName] = []
        for text in names.dropLast() {
            let item = try ItemReference.wholeName(text)
            let name = try target.hasSuffix("/") ? Self.name(target + Self.lastPart(item)) : ItemReference.wholeName(target)
            if let other = parsed.first(where: { $0.name == name }) {
                throw Failure(
                    usage: "\"\(other.item.text)\" and \"\(item.text)\" would both be called \"\(name.text)\"")
            }
            parsed.append(NewName(item, name))
        }
        return parsed
    }

    /// A name that was put together, so it has no quotes.
    private static func name(_ text: String) throws(Failure) -> ItemName {
        try ItemReference(item: text, field: nil).itemName()
    }

    private static func lastPart(_ item: ItemName) throws(Failure) -> String {
        let parts = item.text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty else {
            throw Failure(usage: "\"\(item.text)\" ends with /, so it needs a whole new name")
        }
        return String(last)
    }
}

extension VaultAccess {
    /// Renames or copies items. If one is in the trash, or a new name is taken, the error says what to do first.
    func perform(_ request: consuming ItemRequest, on names: [NewName], _ options: UnlockOptions) throws(Failure) -> [Item] {
        do throws(Failure) { return try perform(request).items() } catch {
            guard case .itemExists(let taken)? = error.vaultError else {
                throw explainingTrash(error, names.map(\.item), options)
            }
            throw error.with(
                hints: ["choose another name, or remove the other item first: omvault rm \(taken.asReference.asShellWord)"])
        }
    }
}

extension Output {
    /// Says which items got which names.
    ///
    /// - Parameters:
    ///   - result: "renamed" or "copied".
    ///   - items: The items under their new names.
    func done(_ result: String, _ names: [NewName], _ items: [Item]) throws(Failure) {
        guard format == .json else {
            let each = names.map { "\"\($0.item.text.shown)\" to \"\($0.name.text.shown)\"" }
            return notice("\(result) \(each.joined(separator: ", "))")
        }
        var document = JSONDocument()
        document.field("result", .text(result))
        document.objects("items", zip(names, items)) { pair, entry in
            entry.field("item", .text(pair.0.item.text))
            entry.field("name", .text(pair.1.name.text))
            entry.field("level", .text(pair.1.level.name))
            entry.field("device_only", .flag(pair.1.level.isDeviceOnly))
            entry.field("revision", .number(Int(clamping: pair.1.revision)))
        }
        try self.document(document)
    }
}
