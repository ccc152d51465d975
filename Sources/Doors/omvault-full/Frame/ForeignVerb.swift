// Verbs of other password managers: what a user types who knows pass, gopass, op, bw, rbw or keepassxc-cli, and
// what omvault has instead.

/// Names that mean one thing in other tools and are no command of omvault.
struct ForeignVerb {
    let names: [String]
    /// What does it here.
    let hint: String

    static func named(_ word: String) -> ForeignVerb? { all.first { $0.names.contains(word) } }

    static let all =
        [
            here("ls", ["list", "dir", "tree"]),
            here("get", ["read", "cat", "print", "lookup"]),
            here("show", ["view", "describe"]),
            here("add", ["insert", "new", "put", "store"]),
            here("mv", ["rename", "move"]),
            here("cp", ["copy"]),
            here("rm", ["delete", "remove", "del"]),
            here("find", ["search", "grep", "locate"]),
            here("set", ["update", "modify"]),
            here("restore", ["undelete", "recover"]),
            here("unlock", ["open", "signin"]),
            here("lock", ["close", "signout"]),
            here("key passwd", ["passwd", "password"]),
            here("verify", ["fsck"]),
            here("status", ["info", "whoami", "unlocked"]),
            here("init", ["setup", "db-create"]),
            here("agent stop", ["stop-agent"]),
            here("vault ls", ["vaults", "mounts"]),
            here("sync now", ["push", "pull", "git", "clone", "merge"]),
            here("gen", ["pwgen", "diceware"]),
            ForeignVerb(
                names: ["generate"],
                hint: "to store a password that is made here: omvault add ITEM --generate; to print one: omvault gen"),
            here("otp", ["totp", "code"]),
            here("run", ["exec", "exec-env", "with-env"]),
            here("inject", ["template", "render"]),
            here("redact", ["mask"]),
            here("helper git", ["git-credential"]),
            ForeignVerb(names: ["clip"], hint: "to copy a secret to the clipboard: omvault get ITEM --clip"),
            ForeignVerb(
                names: ["item", "items", "entry", "document"],
                hint: "the commands for items have no word before them: omvault get ITEM, omvault ls, omvault add ITEM"),
            ForeignVerb(names: ["version"], hint: "omvault --version"),
            here("audit", ["analyze", "analyse", "hibp"]),
        ]

    private static func here(_ command: String, _ names: [String]) -> ForeignVerb {
        ForeignVerb(names: names, hint: "did you mean \"\(command)\"?  (omvault \(command) --help)")
    }
}
