// The values of a line of `omvault run`, read from vaults and handed over.

internal import Glibc
internal import OMItems
internal import OMSecrets
internal import OMShell

struct RunValues {
    private let line: RunCommand
    private let handover: Handover
    private let reading: ReferenceReading?
    /// The variables that options name. They come before those of files and of this process.
    private let named: Set<String>

    init(_ line: RunCommand, _ handover: Handover, _ context: CommandContext) throws {
        (self.line, self.handover) = (line, handover)
        named = Set(line.env.map(\.name) + line.file.map(\.name) + line.token.map(\.name) + line.tokenFile.map(\.name))
        let isNeeded = !line.env.isEmpty || !line.fd.isEmpty || !line.file.isEmpty || !line.envFile.isEmpty
        reading =
            isNeeded || line.stdin != nil || line.resolveEnv || !line.prefix.isEmpty
            ? try ReferenceReading(context, line.unlock, refusesCopies: line.strict) : nil
    }

    /// Reads all values.
    ///
    /// - Returns: The files of `--file`, which are not written yet.
    func files() throws -> [ValueFile] {
        guard reading != nil else { return [] }
        let fromFiles = try addFiles()
        if line.resolveEnv { try addEnvironment(without: named.union(fromFiles)) }
        for prefix in line.prefix { try add(prefix, without: fromFiles) }
        for request in line.env { try set(request.name, request.reference()) }
        for request in line.fd {
            try handover.open(
                value(of: request.reference(), "fd \(request.name)"), as: try Handover.descriptor(request.name))
        }
        if let stdin = line.stdin {
            try handover.open(value(of: try ValueReference(argument: stdin), "stdin"), as: STDIN_FILENO)
        }
        return try line.file.map { request in
            ValueFile(
                try ProgramFile(of: request.name), try value(of: request.reference(), request.name), name: request.name)
        }
    }

    /// - Returns: The names of the variables in the files.
    private func addFiles() throws -> Set<String> {
        // The value of a later file replaces that of an earlier one.
        var names: Set<String> = []
        for path in line.envFile.reversed() {
            let text = try InputFile(path).readWhole(maximum: 1 << 20, hint: "a file of variables has at most 1 MiB")
            let before = names
            do {
                try EnvironmentFile(text).forEach { name, value in
                    names.insert(name)
                    guard !before.contains(name), !named.contains(name) else { return }
                    try setOrResolve(name, value)
                }
            } catch let failure as Failure { throw failure.about(path) }
        }
        return names
    }

    private func addEnvironment(without others: Set<String>) throws {
        var next = environ
        while let entry = next.pointee {
            next += 1
            guard let sign = strchr(entry, Int32(UInt8(ascii: "="))), strncmp(sign + 1, ValueReference.scheme, 5) == 0 else {
                continue
            }
            let name = String(decoding: UnsafeRawBufferPointer(start: entry, count: sign - entry), as: UTF8.self)
            guard !others.contains(name) else { continue }
            try set(name, ValueReference(String(cString: sign + 1)))
        }
    }

    /// Every field of the items below a prefix, as a variable of its own.
    private func add(_ prefix: ItemPrefix, without others: Set<String>) throws {
        guard let reading else { return }
        let items = try reading.items(prefix.vault, startingWith: prefix.start)
        guard !items.isEmpty else {
            throw Failure(.notFound, "no item's name begins with \"\(prefix.start.shown)\"", hint: "omvault ls shows the names")
        }
        var origins: [String: String] = [:]
        for item in items {
            for field in item.fields where !field.isLarge {
                let name = prefix.variable(item.name, field.name)
                let origin = item.name.shellReference(to: field.name.text)
                if let other = origins.updateValue(origin, forKey: name) {
                    throw Failure(
                        .ambiguous, "\(other) and \(origin) are both the variable \(name)",
                        hint: "name the variables with --env instead of --prefix")
                }
                guard !named.contains(name), !others.contains(name) else { continue }
                try set(name, ValueReference(vault: prefix.vault, item: item.name, field: field.name))
            }
        }
    }

    private func setOrResolve(_ name: String, _ value: borrowing SecretBytes) throws {
        let text = value.withBytes { value in
            value.count < 4096 ? String(validating: value.indices.map { value[$0] }, as: UTF8.self) : nil
        }
        guard let text, ValueReference.isMeant(by: text) else { return try handover.set(name, value) }
        try set(name, ValueReference(text))
    }

    private func set(_ name: String, _ reference: ValueReference) throws {
        try handover.set(name, value(of: reference, name))
    }

    /// The value, which the program's output will not show.
    private func value(of reference: ValueReference, _ name: String) throws -> SecretBytes {
        guard let reading else { preconditionFailure("a reference is read without a vault") }
        let value: ReferencedValue
        do { value = try reading.value(of: reference) } catch let failure as Failure { throw failure.about(name) }
        if value.isConcealed { handover.conceal(value.bytes, name) }
        return value.take()
    }
}

/// A file of `--file`: its value is kept until the file is written.
final class ValueFile {
    private let file: ProgramFile
    private let name: String
    private var value: SecretBytes

    init(_ file: ProgramFile, _ value: consuming SecretBytes, name: String) {
        (self.file, self.name) = (file, name)
        self.value = value
    }

    /// Writes the value, and keeps it no longer.
    func begin(_ handover: Handover) throws(Failure) {
        try file.write(value)
        value = SecretBytes(copying: [])
        handover.set(name, path: file.path)
    }

    func remove() { file.remove() }
}
