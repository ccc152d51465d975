// What a program gets: variables, descriptors, and the values that its output must not show.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell

/// Collected before the program starts, so that one failure starts nothing.
final class Handover {
    /// `NAME=VALUE`, each with a zero behind it.
    private var variables = SecretBuffer()
    /// The descriptors here, which are above all numbers that the program gets, and their numbers there.
    private(set) var descriptors: [(from: Int32, to: Int32)] = []
    let mask = OutputMask()
    /// The names of the values that are too short to be found in the output.
    private(set) var tooShort: [String] = []

    deinit { closeDescriptors() }

    /// - Throws: ``ExitStatus/usage`` if the value has a zero byte, which would cut it off.
    func set(_ name: String, _ value: borrowing SecretBytes) throws(Failure) {
        guard value.withBytes({ value in !value.indices.contains { value[$0] == 0 } }) else {
            throw Failure(
                .usage, "\"\(name)\": the value has a zero byte, and no variable can hold that",
                hint: "hand it over with --stdin, --fd or --file")
        }
        variables.append("\(name)=".utf8Span.span)
        variables.append(value)
        variables.append(0)
    }

    func set(_ name: String, path: String) { variables.append("\(name)=\(path)\0".utf8Span.span) }

    /// Gives the program a file in memory that can only be read.
    func open(_ value: borrowing SecretBytes, as number: Int32) throws(Failure) {
        let low = value.withBytes { bytes in bytes.withUnsafeBytes { om_sealed_file($0.baseAddress, $0.count) } }
        guard low >= 0 else { throw Failure(.io, "a secret cannot be put into memory for the program", errno: errno) }
        defer { close(low) }
        try give(low, as: number)
    }

    /// Gives the program a copy of a descriptor. The copy is closed here once the program has it.
    func give(_ descriptor: Int32, as number: Int32) throws(Failure) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 256)
        guard copy >= 0 else {
            throw Failure(.io, "omvault may open too few descriptors to hand one to the program", errno: errno)
                .with(hints: ["ulimit -n must be above \(256 + descriptors.count)"])
        }
        descriptors.append((copy, number))
    }

    /// Keeps a value out of the program's output.
    func conceal(_ value: borrowing SecretBytes, _ name: String) {
        if !mask.add(value, name), value.count > 0 { tooShort.append(name) }
    }

    /// The variables, which are kept no longer.
    func takeVariables() -> SecretBytes {
        var taken = SecretBuffer()
        swap(&taken, &variables)
        return taken.finish()
    }

    /// The program has its own. This process keeps no secret in them while it runs.
    func closeDescriptors() {
        for descriptor in descriptors { close(descriptor.from) }
        descriptors = []
    }
}

extension Handover {
    /// - Throws: ``ExitStatus/usage`` if the name can be no name of a variable.
    static func checkVariable(_ name: String) throws(Failure) {
        guard EnvironmentFile.isName(name) else { throw Failure(usage: "\"\(name.shown)\" can be no variable") }
    }

    /// - Throws: ``ExitStatus/usage`` if the name is no descriptor from 3 to 255.
    static func descriptor(_ name: String) throws(Failure) -> Int32 {
        guard let number = Int32(name), (3...255).contains(number) else {
            throw Failure(usage: "\"\(name.shown)\" is no descriptor from 3 to 255")
        }
        return number
    }
}
