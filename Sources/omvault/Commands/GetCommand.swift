internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// `omvault get`: one secret, exactly its bytes; or an item with its secrets concealed.
struct GetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a secret, or show an item.",
        discussion: """
            ITEM:FIELD prints the exact bytes of that field, no newline added. ITEM shows the item with its secrets
            concealed; --reveal shows them too.

              omvault get github:password
              omvault get github --reveal --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item, or the item and a field.")
    var item: ItemReference

    @Flag(help: "Show the secrets of the item.")
    var reveal = false

    @Flag(help: "Read once although the vault is older than what this device saw last.")
    var acceptRollback = false

    func run(_ door: Door) throws {
        let access = try VaultAccess(door, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(door, unlock.sources)
        if item.field != nil {
            let path = try item.path()
            return try print(try access.answer(.secret(path), secrets, unlock).secret(), path, door)
        }
        let name = try item.itemName()
        let question: ItemQuestion = reveal ? .secrets(name) : .item(name)
        try ShownItem(try access.answer(question, secrets, unlock)).print(door)
    }

    private func print(_ secret: borrowing SecretBytes, _ path: FieldPath, _ door: Door) throws(Failure) {
        guard door.output.format == .json else { return try door.output.writeSecret(secret) }
        var document = JSONDocument()
        document.field("item", .text(path.item.text))
        document.field("field", .text(path.field.text))
        document.secret("value", secret)
        try door.output.document(document)
    }
}

/// An item on its way to the screen.
private struct ShownItem {
    let item: Item
    /// In the order of the item's fields; empty while they are concealed.
    let secrets: [HeldSecret]

    init(_ reply: consuming ItemReply) throws(Failure) {
        switch consume reply {
        case .item(let item): (self.item, secrets) = (item, [])
        case .secrets(let item, let values):
            var secrets: [HeldSecret] = []
            values.forEach { _, secret in secrets.append(HeldSecret(secret.duplicate())) }
            guard values.names == item.fields.map(\.name) else { throw unexpectedReply() }
            (self.item, self.secrets) = (item, secrets)
        default: throw unexpectedReply()
        }
    }

    func print(_ door: Door) throws(Failure) {
        if door.output.format == .json { return try printDocument(door) }
        var rows = [
            ["name", item.name.text],
            ["level", item.level.name + (item.level.isDeviceOnly ? " (device only)" : "")],
            ["revision", "\(item.revision)"],
            ["created", Timestamp.text(item.created)],
            ["modified", Timestamp.text(item.modified)],
        ]
        if secrets.isEmpty { rows += item.fields.map { [$0.name.text, "(concealed)"] } }
        try door.output.rows(rows, header: ["FIELD", "VALUE"])
        for (field, held) in zip(item.fields, secrets) {
            // Attack: a secret with a newline and a tab in it forges another field's row.
            guard held.secret.withBytes({ bytes in bytes.indices.allSatisfy { bytes[$0] >= 0x20 } }) else {
                throw Failure(
                    .usage, "the secret of \(field.name.text.shown) is more than one line of text",
                    hint:
                        "--json shows it; omvault get \(item.name.text.shown):\(field.name.text.shown) prints its bytes"
                )
            }
            var line = SecretBuffer()
            line.append(Array("\(field.name.text.shown)\t".utf8).span)
            line.append(held.secret)
            line.append(UInt8(ascii: "\n"))
            try door.output.writeSecret(line.finish())
        }
    }

    private func printDocument(_ door: Door) throws(Failure) {
        var document = JSONDocument()
        document.field("name", .text(item.name.text))
        document.field("level", .text(item.level.name))
        document.field("device_only", .flag(item.level.isDeviceOnly))
        document.field("revision", .number(Int(clamping: item.revision)))
        document.field("created", .text(Timestamp.text(item.created)))
        document.field("modified", .text(Timestamp.text(item.modified)))
        document.object("fields") { fields in
            for (index, field) in item.fields.enumerated() {
                if secrets.isEmpty {
                    fields.concealed(field.name.text, count: field.count)
                } else {
                    fields.secret(field.name.text, secrets[index].secret)
                }
            }
        }
        try door.output.document(document)
    }
}
