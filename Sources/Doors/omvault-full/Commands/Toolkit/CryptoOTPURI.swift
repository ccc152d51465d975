internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMShell

/// `omvault crypto otp-uri`: writes the URI for an authenticator app, or for a field of an item.
struct CryptoOTPURI: Verb {
    static let configuration = CommandConfiguration(
        commandName: "otp-uri",
        abstract: "Write the otpauth URI of a one-time password.",
        discussion: """
            The URI is the text of the QR code that an authenticator app scans. It holds the secret. 'omvault otp' reads it.

              omvault crypto otp-uri --issuer Example --account ada
              omvault crypto rand --bytes 20 --encoding base32 | omvault crypto otp-uri --secret-from stdin --account ada
              omvault crypto otp-uri --secret-from file:secret --account door --counter 0

            Many apps know only SHA-1, 6 digits and 30 seconds.
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("Where the secret comes from, in base32.", valueName: "source"))
    var secretFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The service, as the app shows it.", valueName: "text"))
    var issuer: String?

    @Option(help: ArgumentHelp("The user of the service.", valueName: "text"))
    var account: String

    @Option(help: ArgumentHelp("sha1, sha256 or sha512.", valueName: "name"))
    var algorithm = OneTimePassword.Hash.sha1

    @Option(parsing: .unconditional, help: ArgumentHelp("The length of a code, 6 to 8.", valueName: "number"))
    var digits = 6

    @Option(parsing: .unconditional, help: ArgumentHelp("How long a code is valid.", valueName: "seconds"))
    var period: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make a URI for counted codes (HOTP). The number is the counter of the next code.", valueName: "number"))
    var counter: UInt64?

    func validate() throws {
        guard OTPAuthURI.digitRange.contains(digits) else { throw ValidationError("--digits takes 6 to 8") }
        guard OneTimePassword.periodRange.contains(period ?? 30) else {
            throw ValidationError("--period takes 1 to 86400 seconds")
        }
        if period != nil, counter != nil { throw ValidationError("--period and --counter contradict each other") }
    }

    func run(_ context: CommandContext) throws {
        let sources = try SecretSources(context, ["--secret-from": secretFrom])
        let text = try sources.read("--secret-from", prompt: "Secret in base32", maximum: OTPAuthURI.maximumCount / 2)
        let secret = try OTPAuthURI.secret(readingBase32: text)
        let factor = counter.map { OneTimePassword.Factor.counter($0) } ?? .time(period: period ?? 30)
        let uri = try OTPAuthURI(
            of: OneTimePassword(secret: secret, hash: algorithm, digits: digits, factor: factor),
            issuer: issuer.map { SecretBytes(copying: Array($0.utf8)) }, account: SecretBytes(copying: Array(account.utf8)))
        if context.output.format == .json {
            var document = JSONDocument()
            document.secret("uri", uri.text())
            return try context.output.document(document)
        }
        var line = SecretBuffer()
        line.append(uri.text())
        line.append(UInt8(ascii: "\n"))
        try context.output.writeSecret(line.finish())
    }
}
