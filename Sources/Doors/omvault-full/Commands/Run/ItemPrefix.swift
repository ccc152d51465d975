internal import ArgumentParser
internal import OMItems
internal import OMShell

/// `PATH` or `om://VAULT/PATH`: the items whose names begin with `PATH/`.
struct ItemPrefix: ExpressibleByArgument {
    /// Nil for the vault of `--vault`.
    let vault: String?
    /// With the slash at its end.
    let start: String

    init?(argument: String) {
        var (vault, path): (String?, String) = (nil, argument)
        if ValueReference.isMeant(by: argument) {
            let text = argument.hasSuffix("/") ? argument : argument + "/"
            guard let reference = try? ValueReference(text), reference.attribute == nil, reference.format == nil else {
                return nil
            }
            (vault, path) = (reference.vault, reference.item.text)
        }
        guard !path.isEmpty else { return nil }
        (self.vault, start) = (vault, path.hasSuffix("/") ? path : path + "/")
    }

    /// Whether the loader, a shell or an interpreter reads code, or the place of code, in this variable.
    static func isRefused(_ variable: String) -> Bool {
        refused.contains(variable) || refusedStarts.contains { variable.hasPrefix($0) }
    }

    private static let refused: Set = [
        "PATH", "IFS", "ENV", "PS4", "SHELLOPTS", "PROMPT_COMMAND", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB",
        "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "GCONV_PATH", "GLIBC_TUNABLES", "GIT_SSH",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP",
    ]
    private static let refusedStarts = ["LD_", "BASH", "GIT_CONFIG"]

    /// The rest of the item's name and the field's name, in capitals: `DB_PASSWORD` of `PATH/db` and `password`.
    func variable(_ item: ItemName, _ field: FieldName) -> String {
        let text = item.text.utf8.dropFirst(start.utf8.count) + Array("_".utf8) + Array(field.text.utf8)
        let name = text.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let isDigit = name.first.map { (48...57).contains($0) } ?? false
        return String(decoding: (isDigit ? [UInt8(ascii: "_")] : []) + name, as: UTF8.self)
    }
}
