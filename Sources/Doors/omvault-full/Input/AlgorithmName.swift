// A name that no algorithm has: the error repeats it and offers the nearest one.

internal import OMCrypto
internal import OMShell

enum AlgorithmName {
    /// The hash function of this name.
    static func digest(_ name: String) throws(Failure) -> DigestAlgorithm {
        try reading(name, among: "hash", body: DigestAlgorithm.init(named:))
    }

    /// Runs `body`, which looks an algorithm up by its name.
    ///
    /// - Parameter kinds: those of `omvault crypto algs` that the name is looked for in.
    static func reading<R>(
        _ name: String, among kinds: String..., body: (String) throws(CryptoError) -> R
    ) throws(Failure) -> R {
        do throws(CryptoError) { return try body(name) } catch {
            guard error == .unknownAlgorithm else { throw Failure(error) }
            throw Failure(
                .usage, "there is no algorithm \"\(name)\" here",
                hint: nearest(to: name, among: kinds) ?? "omvault crypto algs lists them"
            ).with(sdkCode: error.sdkCode)
        }
    }

    /// The hint with the nearest name; nil where none is near.
    static func nearest(to name: String, among kinds: [String]) -> String? {
        let names = ToolkitName.all.filter { kinds.contains($0.kind) }.map(\.name)
        return Suggestion.closest(to: name.lowercased(), among: names).map { "did you mean \($0)?  (omvault crypto algs)" }
    }
}
