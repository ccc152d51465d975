internal import ArgumentParser
internal import OMShell

extension GetCommand {
    /// The command of a plain line, before the parser reads any declaration: `get ITEM[:FIELD]` with `--vault`,
    /// `--no-agent` and `--password-from` alone, each at most once. Scripts read secrets with such lines, and the parser
    /// needs 3 ms for them.
    ///
    /// - Returns: Nil for any other line, and for every line that the parser would refuse.
    init?(plain arguments: [String]) {
        var (item, values, isHere): (String?, [String: String], Bool) = (nil, [:], false)
        var (rest, hasVerb) = (arguments[...], false)
        while let word = rest.popFirst() {
            switch word {
            case "get" where !hasVerb: hasVerb = true
            case "--vault", "-V", "--password-from":
                guard hasVerb || word != "--password-from", let value = rest.popFirst(), !value.hasPrefix("-"),
                    values.updateValue(value, forKey: word == "-V" ? "--vault" : word) == nil
                else { return nil }
            case "--no-agent" where hasVerb && !isHere: isHere = true
            default:
                guard hasVerb, item == nil, !word.hasPrefix("-") else { return nil }
                item = word
            }
        }
        guard let item else { return nil }
        self.init()
        global = GlobalOptions(vault: values["--vault"])
        unlock = UnlockOptions(passwordFrom: values["--password-from"].map(SecretSourceArgument.init(argument:)), noAgent: isHere)
        self.item = ItemReference(argument: item)
        clip = ClipOption(seconds: nil)
        (field, reveal, rev, strict, acceptRollback) = (nil, false, nil, false, false)
    }
}

extension GlobalOptions {
    /// The options of a line that has `--vault` at most.
    init(vault: String?) {
        self.init()
        (self.vault, format, json, noInput, yes, quiet) = (vault, nil, false, false, false, false)
    }
}

extension ClipOption {
    /// - Parameter seconds: Nil if the option is not given.
    init(seconds: ClipTime?) {
        self.init()
        clip = seconds
    }
}

extension UnlockOptions {
    /// The options of a line that has these two at most.
    init(passwordFrom: SecretSourceArgument?, noAgent: Bool) {
        self.init()
        (self.passwordFrom, recoveryFrom, keyFileFrom, keyslot) = (passwordFrom, nil, nil, nil)
        self.noAgent = noAgent
    }
}
