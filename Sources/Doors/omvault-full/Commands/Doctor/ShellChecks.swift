// The checks of what a shell and man know of omvault. Both are for convenience.

internal import Glibc
internal import OMShell
internal import OMSystem

struct ShellChecks {
    func all() -> [Diagnosis] { [completion(), manual()] }

    private func completion() -> Diagnosis {
        let check = "completion"
        guard let shell = Environment.text("SHELL").map({ FilePath.name(of: $0) }), let files = Self.scripts[shell] else {
            return .ok(check, "omvault has none for this shell")
        }
        if let file = files.map(Self.inHome).first(where: Self.isThere) { return .ok(check, "\(shell): \(file)") }
        return .ok(check, "\(shell) has none", next: "omvault completion --help")
    }

    private func manual() -> Diagnosis {
        let pages = ["~/.local/share/man", "/usr/local/share/man", "/usr/share/man"].flatMap { folder in
            ["", ".gz"].map { Self.inHome("\(folder)/man1/omvault.1\($0)") }
        }
        if let page = pages.first(where: Self.isThere) { return .ok("man pages", page) }
        return .ok("man pages", "not installed", next: "omvault manual --install ~/.local/share/man")
    }

    /// The usual places of a shell's script.
    private static let scripts: [String: [String]] = [
        "bash": [
            "~/.local/share/bash-completion/completions/omvault", "/usr/local/share/bash-completion/completions/omvault",
            "/usr/share/bash-completion/completions/omvault", "/etc/bash_completion.d/omvault",
        ],
        "zsh": [
            "~/.zfunc/_omvault", "/usr/local/share/zsh/site-functions/_omvault", "/usr/share/zsh/site-functions/_omvault",
            "/usr/share/zsh/vendor-completions/_omvault",
        ],
        "fish": [
            "~/.config/fish/completions/omvault.fish", "/usr/share/fish/vendor_completions.d/omvault.fish",
            "/usr/share/fish/completions/omvault.fish",
        ],
    ]

    private static func inHome(_ path: String) -> String {
        path.hasPrefix("~") ? (Environment.text("HOME") ?? "") + path.dropFirst() : path
    }

    private static func isThere(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
