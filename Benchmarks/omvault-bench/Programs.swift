// Other programs, and omvault as a program: started without a shell, timed from start to exit.

internal import Glibc

/// A program that this process runs to its end.
struct Program {
    let path: String
    var home: String?
    /// The file for its standard input.
    var input = "/dev/null"
    /// Further variables, as `NAME=VALUE`.
    var variables: [String] = []
    /// The status with which it has to end.
    var status: Int32 = 0

    /// Runs it, with its output to /dev/null.
    ///
    /// - Throws: ``BenchError`` if the program is missing or does not exit with its status. A refusal is fast, but not a result.
    func run(_ arguments: [String]) throws(BenchError) { _ = try start(arguments, output: "/dev/null") }

    /// Seconds from start to exit.
    func time(_ arguments: [String]) throws(BenchError) -> Double {
        try Clock.seconds { () throws(BenchError) in try run(arguments) }
    }

    /// The output of the program.
    func output(_ arguments: [String], in folder: TemporaryFolder) throws(BenchError) -> String {
        let file = folder.path + "/output"
        try start(arguments, output: file)
        return try TemporaryFolder.read(file)
    }

    /// The most memory that the program held, in bytes. Python starts it: otherwise the kernel would also count the memory
    /// that this process held.
    func peakMemory(_ arguments: [String], python: String, in folder: TemporaryFolder) throws(BenchError) -> Double {
        let script = """
            from resource import RUSAGE_CHILDREN, getrusage
            from subprocess import DEVNULL, run
            from sys import argv, exit
            code = run(argv[1:], stdout=DEVNULL).returncode
            print(getrusage(RUSAGE_CHILDREN).ru_maxrss * 1024)
            exit(code)
            """
        try checkInstalled()
        let starter = Program(path: python, home: home, input: input, variables: variables)
        let text = try starter.output(["-c", script, path] + arguments, in: folder)
        guard let bytes = Double(text.prefix { !$0.isNewline }) else { throw BenchError("python printed no memory") }
        return bytes
    }

    private func checkInstalled() throws(BenchError) {
        guard access(path, X_OK) == 0 else { throw BenchError(notInstalled: path) }
    }

    private func start(_ arguments: [String], output: String) throws(BenchError) {
        try checkInstalled()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(home ?? "/nonexistent")"] + variables
        var (argv, envp) = (([path] + arguments).map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        guard posix_spawn(&child, path, &actions, nil, &argv, &envp) == 0 else {
            throw BenchError("cannot run \(path)")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw BenchError("cannot wait for \(path)") }
        }
        guard status == self.status << 8 else {
            throw BenchError("\(path) \(arguments.joined(separator: " ")) ended with \((status >> 8) & 0xFF)")
        }
    }
}

/// A temporary folder of this run.
struct TemporaryFolder {
    let path: String

    private init(path: String) { self.path = path }

    /// Makes a folder in it.
    func subfolder(_ name: String) throws(BenchError) -> TemporaryFolder {
        let path = "\(path)/\(name)"
        guard mkdir(path, 0o700) == 0 else { throw BenchError("cannot make the folder \(path)") }
        return TemporaryFolder(path: path)
    }

    init() throws(BenchError) {
        var template = Array("/tmp/omvault-bench.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw BenchError("cannot make a folder in /tmp") }
        path = String(cString: made)
    }

    func remove() { try? Program(path: "/bin/rm").run(["-rf", path]) }

    /// Writes a new file in it, and returns the whole path.
    func write(_ name: String, _ bytes: [UInt8], times: Int = 1) throws(BenchError) -> String {
        let file = "\(path)/\(name)"
        guard let stream = fopen(file, "w") else { throw BenchError("cannot write \(file)") }
        for _ in 0..<times {
            guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else { throw BenchError("cannot write \(file)") }
        }
        guard fclose(stream) == 0 else { throw BenchError("cannot write \(file)") }
        return file
    }

    static func read(_ file: String) throws(BenchError) -> String {
        guard let stream = fopen(file, "r") else { throw BenchError("cannot read \(file)") }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
