// The check of stored hashes of every scheme, one or a million, within the caller's limits.

internal import Glibc
public import OMSecrets

/// Compares stored hashes with values.
///
///     var checker = HashChecker(schemes: try HashSchemes(list: "SSHA512,argon2id"))
///     switch checker.check(stored, value.span) { case .match: … }
///
/// It keeps values from one check for the next, so a million salted hashes take less than a second.
public struct HashChecker: ~Copyable {
    public enum Answer: Hashable, Sendable {
        case match
        case mismatch
        /// The string cannot be checked, or must not be: it is malformed, or its scheme or its work is not allowed.
        case refused(CryptoError)
    }

    private let schemes: HashSchemes
    private let encoding: HashEncoding?
    private let limit: WorkLimit
    private let secret: SecretBytes
    /// One digest for each algorithm so far.
    private var digests: [DigestReference?] = Array(repeating: nil, count: DigestAlgorithm.allCases.count)
    /// The `{name}` of the last string. In a list, the next string mostly has the same.
    private var name: [UInt8] = []
    private var scheme: HashScheme?
    private var isAllowed = false
    private var body = [UInt8](repeating: 0, count: 256)
    private var computed = SecretBuffer(capacity: 64)

    /// - Parameters:
    ///   - schemes: The schemes that a string may name.
    ///   - encoding: The form that every string must have. Nil accepts every form that names its scheme.
    ///   - secret: Argon2's K, for strings that were made with a secret.
    public init(
        schemes: HashSchemes = .standard, encoding: HashEncoding? = nil, limit: WorkLimit = .standard,
        secret: consuming SecretBytes = SecretBytes(copying: [])
    ) {
        self.schemes = schemes
        self.encoding = encoding
        self.limit = limit
        self.secret = secret
    }

    /// Whether `stored` is the hash of `value`, compared in constant time.
    public mutating func check(_ stored: Span<UInt8>, _ value: Span<UInt8>) -> Answer {
        do throws(CryptoError) {
            let matches =
                stored.isEmpty || stored[0] != UInt8(ascii: "$")
                ? try checkBraced(stored, value) : try checkPHC(stored, value)
            return matches ? .match : .mismatch
        } catch {
            // An unknown name counts as a scheme that is not allowed: the string is a hash of another kind.
            return .refused(error == .unknownAlgorithm ? .schemeNotAllowed : error)
        }
    }

    /// Checks every line of `lines`. A line is a stored hash, a tab and the value, which goes to the end of the line.
    ///
    /// A last line without a newline counts; an empty text has no lines. A line without a tab gives
    /// ``CryptoError/malformedHash``.
    public mutating func check(pairs lines: Span<UInt8>) -> [Answer] {
        var answers: [Answer] = []
        lines.forEachLine { line in
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t"), from: 0) else {
                return answers.append(.refused(.malformedHash))
            }
            answers.append(check(line.extracting(0..<tab), line.extracting((tab + 1)...)))
        }
        return answers
    }

    private mutating func checkBraced(_ stored: Span<UInt8>, _ value: Span<UInt8>) throws(CryptoError) -> Bool {
        let scheme = try scheme(of: stored)
        guard isAllowed else { throw .schemeNotAllowed }
        if stored.count > body.count { body = [UInt8](repeating: 0, count: stored.count) }
        let digestCount = scheme.algorithm.count
        let count = try StoredHash.decode(stored.extracting(name.count...), digestCount, scheme.isSalted, into: &body)
        if let encoding { try encoding.check(scheme, Array(body[digestCount..<count])) }
        let digest = try digest(scheme.algorithm)
        digest.value.update(value)
        digest.value.update(body.span.extracting(digestCount..<count))
        computed.removeAll()
        computed.append(upTo: digestCount) { target in
            digest.value.finish(into: &target)
            return digestCount
        }
        return computed.withBytes { ConstantTime.areEqual($0, body.span.extracting(0..<digestCount)) }
    }

    private mutating func scheme(of stored: Span<UInt8>) throws(CryptoError) -> HashScheme {
        if let scheme, stored.starts(with: name.span) { return scheme }
        guard let brace = StoredHash.closingBrace(stored), brace > 1 else { throw .notPrefixed }
        let found = String(decoding: (1..<brace).map { stored[$0] }, as: UTF8.self)
        guard let known = HashScheme.braced[found.lowercased()] else { throw .unknownAlgorithm }
        name = (0...brace).map { stored[$0] }
        (scheme, isAllowed) = (known, schemes.allows(known))
        return known
    }

    private mutating func digest(_ algorithm: DigestAlgorithm) throws(CryptoError) -> DigestReference {
        if let known = digests[algorithm.index] { return known }
        let new = DigestReference(try Digest(algorithm))
        digests[algorithm.index] = new
        return new
    }

    private func checkPHC(_ stored: Span<UInt8>, _ value: Span<UInt8>) throws(CryptoError) -> Bool {
        guard stored.count <= PHCString.longest, let text = try? UTF8Span(validating: stored) else {
            throw .malformedHash
        }
        if let encoding, encoding != .phc { throw .noSuchForm }
        let string = String(copying: text)
        let value = SecretBytes(copying: value)
        let id = string.dropFirst().prefix { $0 != "$" }
        if HashScheme.phc[String(id)] != nil {
            let hash = try StoredHash(parsing: string)
            guard let scheme = hash.scheme, schemes.allows(scheme) else { throw .schemeNotAllowed }
            return try hash.matches(value)
        }
        guard PasswordHash.isFunction(id) else { throw PHCString.isName(String(id)) ? .unknownAlgorithm : .malformedHash }
        // The scheme is checked before its work, and both before anything is computed.
        let hash = try PasswordHash(parsing: string, limit: WorkLimit(factor: .max))
        guard schemes.allows(hash.function) else { throw .schemeNotAllowed }
        try hash.check(limit)
        return try hash.matches(value, secret: secret)
    }
}

extension HashSchemes {
    /// Whether a stored hash names a scheme that does not exist here, as `{CRYPT}…` and `$unknown$…` do.
    package static func isUnknown(in stored: Span<UInt8>) -> Bool {
        func name(upTo end: Int) -> String { String(decoding: (1..<end).map { stored[$0] }, as: UTF8.self) }
        if let brace = StoredHash.closingBrace(stored), brace > 1 {
            return HashScheme.braced[name(upTo: brace).lowercased()] == nil
        }
        guard !stored.isEmpty, stored[0] == UInt8(ascii: "$"), let end = stored.firstIndex(of: stored[0], from: 1), end <= 33
        else { return false }
        let name = name(upTo: end)
        guard PHCString.isName(name), HashScheme.phc[name] == nil else { return false }
        // A list has `bcrypt` and `sha512crypt`, and their strings have `2b` and `6`.
        return !PasswordHash.isFunction(name) || !PasswordHash.isOfCrypt(name) && (try? HashSchemes(list: name)) == nil
    }

    /// The fast hash in `text`, if its scheme is allowed. For data that is too long for one value.
    ///
    /// - Parameter encoding: The form that the text must have. Nil accepts every form that names its scheme.
    /// - Throws: ``CryptoError/noSuchForm`` for a password hash, which does not take data piece by piece;
    ///   ``CryptoError/schemeNotAllowed``; else as ``StoredHash/init(parsing:as:)``.
    public func hash(parsing text: String, as encoding: HashEncoding? = nil) throws(CryptoError) -> StoredHash {
        if text.utf8.first == UInt8(ascii: "$") {
            let id = text.dropFirst().prefix { $0 != "$" }
            guard !PasswordHash.isFunction(id) else { throw .noSuchForm }
            guard HashScheme.phc[String(id)] != nil || !PHCString.isName(String(id)) else { throw .schemeNotAllowed }
        }
        do throws(CryptoError) {
            let hash = try StoredHash(parsing: text, as: encoding)
            guard let scheme = hash.scheme, allows(scheme) else { throw .schemeNotAllowed }
            return hash
        } catch { throw error == .unknownAlgorithm ? .schemeNotAllowed : error }
    }
}

/// A reference to a digest. An array holds only copyable values, and a digest is not copyable.
private final class DigestReference {
    var value: Digest
    init(_ value: consuming Digest) { self.value = value }
}

extension Span<UInt8> {
    /// Calls `body` with each line, without its newline.
    fileprivate func forEachLine(_ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < count {
            let end = firstIndex(of: UInt8(ascii: "\n"), from: start) ?? count
            body(extracting(start..<end))
            start = end + 1
        }
    }

    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, Int32(byte), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(base).distance(to: found)
        }
    }

    fileprivate func starts(with other: Span<UInt8>) -> Bool {
        guard count >= other.count else { return false }
        for index in other.indices where self[index] != other[index] { return false }
        return true
    }
}
