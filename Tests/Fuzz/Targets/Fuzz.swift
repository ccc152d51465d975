// One fuzzer for every parser that reads bytes from outside. The first argument names the parser. libFuzzer does the rest.
//
//     Tests/Fuzz/run 60                 every target for a minute, with its coverage
//     Tests/Fuzz/run 600 vectors-acvp   one of them
//     omvault-fuzz TARGET --seeds DIR   writes the seeds that need a program
//
// To add a parser: a file here with a FuzzTarget that calls its public entry point, and one line in `targets`.

internal import CFuzz
internal import Glibc

struct FuzzTarget: Sendable {
    let name: String
    /// The seeds that need a program. The other seeds are in Tests/Fuzz/Seeds.
    let seeds: @Sendable () -> [[UInt8]]
    /// Reads the bytes. It may refuse them in any way except a crash.
    let read: @Sendable ([UInt8]) -> Void

    init(
        name: String, seeds: @escaping @Sendable () -> [[UInt8]] = { [] }, _ read: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.name, self.seeds, self.read) = (name, seeds, read)
    }
}

private let targets: [FuzzTarget] =
    VectorTargets.all
    + HashTargets.all
    + PasswordTargets.all
    + SymmetricTargets.all + AgeTargets.all
    + KeyTargets.all
    + TokenTargets.all
    + AgentTargets.all + SSHTargets.all
    + OnlineTargets.all + BrowserTargets.all
    + VaultTargets.all
    + ProfileTargets.all
    + LoginTargets.all
    + PamTargets.all
    + MarkTargets.all
    + SealedTargets.all
    + SyncTargets.all
    + InterchangeTargets.all + ImportTargets.all + FolderTargets.all + ServerTargets.all + ReferenceTargets.all

nonisolated(unsafe) private var chosen: FuzzTarget?

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen?.read(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

@main
struct Fuzz {
    static func main() {
        guard CommandLine.arguments.count > 1,
            let target = targets.first(where: { $0.name == CommandLine.arguments[1] })
        else {
            print(targets.map(\.name).joined(separator: "\n"))
            exit(CommandLine.arguments.count > 1 ? 2 : 0)
        }
        if CommandLine.arguments.count == 4, CommandLine.arguments[2] == "--seeds" {
            for (index, seed) in target.seeds().enumerated() {
                ScratchFolder.write(seed, to: "\(CommandLine.arguments[3])/\(target.name)-\(index)")
            }
            return
        }
        chosen = target
        var arguments = CommandLine.arguments.enumerated().filter { $0.offset != 1 }.map { strdup($0.element) } + [nil]
        var count = CInt(arguments.count - 1)
        arguments.withUnsafeMutableBufferPointer { buffer in
            var base = buffer.baseAddress
            exit(LLVMFuzzerRunDriver(&count, &base, fuzzOne))
        }
    }
}
