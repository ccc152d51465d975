/// The coverage of all files, in the order of the algorithms' names.
public struct CoverageList: Sendable {
    private var known: [String: Coverage] = [:]
    /// Files without cases, and why: they could not be read as vectors, or belong to other files.
    public private(set) var others: [(path: String, reason: String)] = []

    public init() {}

    public var algorithms: [Coverage] {
        known.values.sorted { $0.algorithm.utf8.lexicographicallyPrecedes($1.algorithm.utf8) }
    }

    /// Reads `file` and adds its cases.
    public mutating func add(_ file: VectorFile) {
        do {
            let reading = try VectorRunner.reading(file)
            if let note = reading.companionOf { others.append((file.path, note)) }
            for vector in reading.cases {
                known[vector.algorithm, default: Coverage(algorithm: vector.algorithm)].add(vector, of: file.path)
            }
        } catch {
            others.append((file.path, error.reason))
        }
    }
}
