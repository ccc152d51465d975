internal import ArgumentParser
internal import OMCrypto
internal import OMShell

/// The work factors of the slow functions. Options of another function than the chosen one are refused.
struct FunctionOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: memory in KiB.", valueName: "KiB"))
    var memory: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: passes over the memory.", valueName: "number"))
    var passes: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Argon2: lanes.", valueName: "number"))
    var lanes: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("scrypt: the cost N is 2 to this power.", valueName: "number"))
    var logN: Int?

    @Option(name: .customLong("r"), parsing: .unconditional, help: ArgumentHelp("scrypt: the block size.", valueName: "number"))
    var blockSize: Int?

    @Option(name: .customLong("p"), parsing: .unconditional, help: ArgumentHelp("scrypt: the parallelism.", valueName: "number"))
    var parallelism: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("PBKDF2: iterations. sha256crypt and sha512crypt: rounds.", valueName: "number"))
    var iterations: Int?

    @Option(help: ArgumentHelp("PBKDF2 and HKDF: the hash function.", valueName: "name"))
    var hash: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("bcrypt: the rounds are 2 to this power; 4 to 31. yescrypt: 1 to 11.", valueName: "number"))
    var cost: Int?

    func function(_ family: PasswordFunction.Family) throws -> PasswordFunction {
        let given: [(String, Bool)] = [
            ("--memory", memory != nil), ("--passes", passes != nil), ("--lanes", lanes != nil),
            ("--log-n", logN != nil),
            ("--r", blockSize != nil), ("--p", parallelism != nil), ("--iterations", iterations != nil),
            ("--hash", hash != nil), ("--cost", cost != nil),
        ]
        let function: PasswordFunction
        let own: Set<String>
        switch PasswordFunction.standard(family) {
        case .argon2(let variant, let standard):
            own = ["--memory", "--passes", "--lanes"]
            function = .argon2(
                variant,
                .init(
                    memoryKiB: memory ?? standard.memoryKiB, passes: passes ?? standard.passes,
                    lanes: lanes ?? standard.lanes))
        case .scrypt(let standardCost, let standardSize, let standardParallelism):
            own = ["--log-n", "--r", "--p"]
            function = .scrypt(
                logCost: logN ?? standardCost, blockSize: blockSize ?? standardSize,
                parallelism: parallelism ?? standardParallelism)
        case .pbkdf2(let algorithm, let standard):
            own = ["--iterations", "--hash"]
            function = .pbkdf2(
                try hash.map { try AlgorithmName.digest($0) } ?? algorithm, iterations: iterations ?? standard)
        case .bcrypt(let standard):
            own = ["--cost"]
            function = .bcrypt(cost: cost ?? standard)
        case .crypt(.yescrypt, let standard):
            own = ["--cost"]
            function = .crypt(.yescrypt, cost: cost ?? standard)
        case .crypt(let method, let standard):
            own = ["--iterations"]
            function = .crypt(method, cost: iterations ?? standard)
        }
        if let (foreign, _) = given.first(where: { $0.1 && !own.contains($0.0) }) {
            throw Failure(usage: "\(foreign) is not a parameter of \(family.rawValue)")
        }
        return function
    }
}
