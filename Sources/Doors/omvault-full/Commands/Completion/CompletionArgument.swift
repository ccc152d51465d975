internal import ArgumentParser
internal import OMJSON
internal import OMShell

/// An argument or option of a command, as the parser describes it, and the words that it can be.
struct CompletionArgument {
    /// `--vault`, `-V`; none for an argument that has only a place.
    let names: [String]
    let takesValue: Bool
    let isRepeating: Bool
    let about: String?
    private let kind: Kind
    /// Its name in a question to the parser.
    private let asked: String

    private enum Kind {
        case list([String])
        case file, folder, asked, nothing
    }

    static func all(of command: any ParsableCommand.Type) -> [CompletionArgument] {
        let description = try? JSON(parsing: Array(command._dumpHelp().utf8).span)
        let listed = description?.members?["command"]?.members?["arguments"]?.elements ?? []
        var count = 0
        return listed.compactMap(\.members).filter { $0["shouldDisplay"] != .bool(false) }.map { members in
            let argument = CompletionArgument(members, position: count)
            if argument.names.isEmpty { count += 1 }
            return argument
        }
    }

    private init(_ members: [String: JSON], position: Int) {
        names = (members["names"]?.elements ?? []).compactMap { name in
            let text = name.members?["name"]?.text ?? ""
            return (name.members?["kind"]?.text == "long" ? "--" : "-") + text
        }
        takesValue = members["kind"]?.text != "flag"
        isRepeating = members["isRepeating"] == .bool(true)
        about = members["abstract"]?.text
        asked = names.first { $0.hasPrefix("--") } ?? names.first ?? "positional@\(position)"
        let completion = members["completionKind"]?.members ?? [:]
        kind =
            if let list = completion["list"]?.members?["values"] ?? members["allValues"] {
                .list((list.elements ?? []).compactMap(\.text))
            } else if completion["file"] != nil {
                .file
            } else if completion["directory"] != nil {
                .folder
            } else {
                completion.isEmpty ? .nothing : .asked
            }
    }

    /// - Parameters:
    ///   - verb: The names of the command that it belongs to.
    ///   - words: All words before the current one: `--vault` may be among them.
    ///   - typed: What is typed of the value.
    ///   - isBehindDashes: Whether `--` came before, so that a word may begin with a dash.
    func found(
        _ verb: [String], _ words: [String], typed: String, isBehindDashes: Bool = false
    ) -> CompletionSearch.Found {
        switch kind {
        case .list(let values): .words(values.map { CompletionWord(text: $0) })
        case .file: .files
        case .folder: .folders
        case .nothing: .nothing
        case .asked:
            .words(
                answers(verb, words, typed).map { answer in
                    CompletionWord(text: names.isEmpty && !isBehindDashes ? ItemReference.typeable(answer) : answer)
                })
        }
    }

    /// What the code beside the option or argument answers. It learns of the value what ends with `=` or a comma. The rest is
    /// only compared with the answers: it may be a secret that was typed in the wrong place.
    private func answers(_ verb: [String], _ words: [String], _ typed: String) -> [String] {
        let head = typed.lastIndex { "=,".contains($0) }.map { String(typed[...$0]) } ?? ""
        let line = ["omvault"] + words + [head]
        let question = ["---completion"] + verb + ["--", asked, "\(line.count - 1)", "\(head.count)"] + line
        do {
            _ = try CommandTree.parseAsRoot(question)
            return []
        } catch {
            guard CommandTree.exitCode(for: error) == .success else { return [] }
            return CommandTree.fullMessage(for: error).split(separator: "\n").map(String.init)
        }
    }
}
