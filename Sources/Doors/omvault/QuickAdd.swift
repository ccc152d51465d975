internal import Glibc
internal import OMItems
internal import OMSecrets
internal import OMShell

/// `add ITEM --field NAME=file:PATH …`: an item without a type, with fields from small files.
struct QuickAdd {
    private let item: ItemName
    private let fields: [(name: FieldName, path: String)]

    /// - Returns: nil for any other form of the command.
    init?(_ words: ArraySlice<String>) {
        guard let first = words.first, !first.hasPrefix("-"), words.count >= 3, words.count % 2 == 1,
            let item = Self.item(first)
        else { return nil }
        var fields: [(name: FieldName, path: String)] = []
        for index in stride(from: words.startIndex + 1, to: words.endIndex, by: 2) {
            guard words[index] == "--field", let field = Self.field(words[index + 1]) else { return nil }
            fields.append(field)
        }
        (self.item, self.fields) = (item, fields)
    }

    private static func item(_ text: String) -> ItemName? {
        let reference = ItemReference(text)
        return reference.field == nil ? try? ItemName(reference.item) : nil
    }

    /// `NAME=file:PATH`. A path under /dev or /proc can mean a descriptor of this process.
    private static func field(_ text: String) -> (name: FieldName, path: String)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("file:"), let name = try? FieldName(String(parts[0])) else { return nil }
        let path = String(parts[1].dropFirst("file:".count))
        guard !path.isEmpty, !path.hasPrefix("/dev/"), !path.hasPrefix("/proc/") else { return nil }
        return (name, path)
    }

    /// - Returns: false if the item was not added. omvault-full says why.
    func run(_ vault: String?) throws(Failure) -> Bool {
        guard let vault = AgentVault(vault) else { return false }
        var values = FieldValues()
        for field in fields {
            guard let value = Self.read(field.path), (try? values.put(value, at: field.name)) != nil else { return false }
        }
        guard try vault.make(.add(item, level: nil, ItemChange(set: values))) != nil else { return false }
        StandardError.write("omvault: added \"\(item.text.shown)\" to vault \"\(vault.name.shown)\"\n")
        return true
    }

    /// The value in a small regular file, without one newline at its end.
    private static func read(_ path: String) -> SecretBytes? {
        var status = stat()
        // Only omvault-full may open a pipe: its writer would see this reader come and go.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var buffer = SecretBuffer(capacity: 4096)
        guard readAll(descriptor, into: &buffer, maximum: longest) == .end else { return nil }
        return buffer.withoutNewline()
    }

    private static let longest = 64 << 10
}
