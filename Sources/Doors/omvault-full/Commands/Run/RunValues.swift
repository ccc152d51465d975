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
    /// The variables of prefixes, and where each comes from.
    private var origins: [String: String] = [:]

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
    mutating func files() throws -> [ValueFile] {
        guard reading != nil else { return [] }
        var others = try named.union(addFiles())
        if line.resolveEnv { try others.formUnion(addEnvironment(without: others)) }
        for prefix in line.prefix { try add(prefix, without: others) }
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

    /// - Returns: The names of the variables that were references.
    private func addEnvironment(without others: Set<String>) throws -> Set<String> {
        var names: Set<String> = []
        var next = environ
        while let entry = next.pointee {
            next += 1
            guard let sign = strchr(entry, Int32(UInt8(ascii: "="))), strncmp(sign + 1, ValueReference.scheme, 5) == 0 else {
                continue
            }
            let name = String(decoding: UnsafeRawBufferPointer(start: entry, count: sign - entry), as: UTF8.self)
            guard !others.contains(name) else { continue }
            try setReference(name, String(validatingCString: sign + 1))
            names.insert(name)
        }
        return names
    }

    /// Every field of the items below a prefix, as a variable of its own.
    private mutating func add(_ prefix: ItemPrefix, without others: Set<String>) throws {
        guard let reading else { return }
        let items = try reading.items(prefix.vault, startingWith: prefix.start)
        guard !items.isEmpty else {
            throw Failure(.notFound, "no item's name begins with \"\(prefix.start.shown)\"", hint: "omvault ls shows the names")
        }
        for item in items {
            for field in item.fields where !field.isLarge {
                let name = prefix.variable(item.name, field.name)
                let origin = item.name.shellReference(to: field.name.text)
                if let other = origins.updateValue(origin, forKey: name) {
                    throw Failure(
                        .ambiguous, "\(other) and \(origin) are both the variable \(name)",
                        hint: "name the variables with --env instead of --prefix")
                }
                guard !others.contains(name) else { continue }
                // Attack: who can add an item below the prefix would choose what the program runs.
                guard !ItemPrefix.isRefused(name) else {
                    throw Failure(
                        .usage, "\(origin) would be the variable \(name), which can make a program run other code",
                        hint: "if that is meant: --env \(name)=\(origin)")
                }
                try set(name, ValueReference(vault: prefix.vault, item: item.name, field: field.name))
            }
        }
    }

    private func setOrResolve(_ name: String, _ value: borrowing SecretBytes) throws {
        let isMeant = value.withBytes { value in
            value.withUnsafeBytes { $0.starts(with: ValueReference.scheme.utf8) }
        }
        guard isMeant else { return try handover.set(name, value) }
        try setReference(
            name, value.withBytes { value in value.withUnsafeBytes { String(validating: $0, as: UTF8.self) } })
    }

    /// - Parameter text: What begins as a reference. Nil if it is not UTF-8.
    private func setReference(_ name: String, _ text: String?) throws {
        let reference: ValueReference
        do throws(Failure) {
            guard let text else { throw Failure(usage: "the reference is not UTF-8") }
            reference = try ValueReference(text)
        } catch { throw error.about(name) }
        try set(name, reference)
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
