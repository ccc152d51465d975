// The SDK's full-control call, `hashData:withSalt:algorithm:appendSaltToOutput:base64Encode:
// prefixOutputWithAlgorithmName:outError:`, with every parameter, its order of validation and its error numbers.

public import OMSecrets

/// An algorithm by the SDK's name: a hash function, and whether it is salted. An unknown name is a value too, because the SDK
/// checks other parameters first.
public struct SDKHashAlgorithm: Hashable, Sendable {
    let digest: DigestAlgorithm?
    let isSalted: Bool

    public init(_ digest: DigestAlgorithm, isSalted: Bool) {
        (self.digest, self.isSalted) = (digest, isSalted)
    }

    /// - Parameter name: `SHA-256`, `SaltedSHA-256`, in any case. Any other name is refused when it is used.
    public init(named name: String) {
        let scheme = HashScheme.braced[name.lowercased()].flatMap { $0.form == .sdk ? $0 : nil }
        (digest, isSalted) = (scheme?.algorithm, scheme?.isSalted ?? false)
    }
}

extension SaltedHash {
    /// The SDK's call.
    ///
    /// With `base64Encode` off, this ignores the other two switches without an error, as the SDK does, and returns the raw
    /// digest. With it on, they are independent of each other.
    ///
    /// - Parameters:
    ///   - salt: The bytes of the salt's text. They can be any bytes: the SDK does not check them. Nil means empty.
    /// - Returns: The raw digest, or the base64 of the digest and the appended salt, with or without `{name}` before it.
    /// - Throws: The first of these, in the SDK's order: ``CryptoError/emptyInput`` (10406);
    ///   ``CryptoError/saltNotSupported`` (10514) for a salt with an unsalted algorithm; ``CryptoError/saltRequired`` (10513)
    ///   for a salted algorithm without a salt; ``CryptoError/noSaltToAppend`` (10515) for base64 and append without a salt;
    ///   ``CryptoError/inputTooLong`` (10519) for data and salt beyond 2^32 − 1 bytes; ``CryptoError/unknownAlgorithm``
    ///   (10506).
    public static func hash(
        _ data: borrowing SecretBytes, salt: [UInt8]?, algorithm: SDKHashAlgorithm, appendSaltToOutput: Bool,
        base64Encode: Bool, prefixOutputWithAlgorithmName: Bool
    ) throws(CryptoError) -> SecretBytes {
        let salt = salt ?? []
        try validate(
            dataCount: data.count, saltCount: salt.count, algorithm, appends: appendSaltToOutput && base64Encode)
        guard let function = algorithm.digest else { throw .unknownAlgorithm }
        var digest = try Digest(function)
        digest.update(data)
        digest.update(salt.span)
        let switches = SDKHashOptions(
            appendsSalt: appendSaltToOutput, usesBase64: base64Encode, hasPrefix: prefixOutputWithAlgorithmName)
        return switches.text(
            digest.finishSecret(), salt: salt, prefix: prefix(function, isSalted: algorithm.isSalted))
    }

    /// The SDK's checks that need only the lengths.
    static func validate(
        dataCount: Int, saltCount: Int, _ algorithm: SDKHashAlgorithm, appends: Bool
    ) throws(CryptoError) {
        guard dataCount > 0 else { throw .emptyInput }
        // An unknown algorithm is neither salted nor unsalted; it is refused last.
        if saltCount > 0, algorithm.digest != nil, !algorithm.isSalted { throw .saltNotSupported }
        if saltCount == 0, algorithm.isSalted { throw .saltRequired }
        if saltCount == 0, appends { throw .noSaltToAppend }
        guard dataCount + saltCount <= UInt32.max else { throw .inputTooLong }
        guard algorithm.digest != nil else { throw .unknownAlgorithm }
    }
}
