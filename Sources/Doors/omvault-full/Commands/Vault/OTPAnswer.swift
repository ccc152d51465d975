internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The output of `omvault otp`: a code, or whether a code is right.
struct OTPAnswer {
    let context: CommandContext
    /// Where a code goes instead of standard output. Nil for there.
    let clipboard: Clipboard?
    /// Nil for a URI that is in no vault.
    let path: FieldPath?
    /// Seconds since 1970.
    let time: UInt64
    /// Whether the time is the machine's.
    let isNow: Bool

    /// - Parameter isNext: Whether to print the code after the present one.
    func printCode(of uri: borrowing OTPAuthURI, isNext: Bool) throws {
        let counter = uri.password.counter(at: time) + (isNext ? 1 : 0)
        let code = try uri.password.code(counter: counter)
        if let clipboard { return try copy(code, of: uri, isNext: isNext, to: clipboard) }
        if context.output.format == .json { return try printDocument(uri, counter, code) }
        var line = SecretBuffer()
        line.append(code)
        line.append(UInt8(ascii: "\n"))
        try context.output.writeSecret(line.finish())
        guard StandardOutput.isTerminal, let words = validity(of: uri, isNext: isNext) else { return }
        context.output.notice(words)
    }

    private func copy(
        _ code: borrowing SecretBytes, of uri: borrowing OTPAuthURI, isNext: Bool, to clipboard: Clipboard
    ) throws {
        let name = path.map { "the code of \"\($0.item.text)\"" } ?? "the code"
        let words = validity(of: uri, isNext: isNext).map { ", \($0)" } ?? ""
        guard let path else { return try clipboard.copy(code, as: name + words, [:]) }
        try clipboard.copy(code, as: name + words, ["item": .text(path.item.text), "field": .text(path.field.text)])
    }

    /// When the code is valid. Nil if the time is not the machine's, and for a counted code.
    private func validity(of uri: borrowing OTPAuthURI, isNext: Bool) -> String? {
        guard isNow, let left = uri.password.secondsLeft(at: time) else { return nil }
        let seconds = Int(clamping: left).of("second")
        return isNext ? "valid in \(seconds)" : "valid for \(seconds) more"
    }

    private func printDocument(
        _ uri: borrowing OTPAuthURI, _ counter: UInt64, _ code: borrowing SecretBytes
    ) throws(Failure) {
        let password = Settings(uri.password)
        var document = documentStart()
        document.field("type", .text(password.type))
        switch uri.issuer {
        case .some(let issuer): document.secret("issuer", issuer)
        case .none: break
        }
        if uri.account.count > 0 { document.secret("account", uri.account) }
        document.secret("code", code)
        document.field("algorithm", .text(password.hash))
        document.field("digits", .number(code.count))
        if let period = password.period {
            document.field("period", .number(Int(clamping: period)))
            // Until this code ends, which for the next one is a period later.
            document.field("seconds_left", .number(Int(clamping: (counter + 1) * period - time)))
        } else {
            document.field("counter", .number(Int(clamping: counter)))
        }
        try context.output.document(document)
    }

    /// Prints nothing if the code is right, unless JSON is asked for.
    ///
    /// - Throws: ``ExitStatus/badSecret`` if it is not.
    func printMatch(_ isMatch: Bool, isTimed: Bool) throws {
        if context.output.format == .json {
            var document = documentStart()
            document.field("result", .text(isMatch ? "match" : "mismatch"))
            try context.output.document(document)
            guard isMatch else { throw AlreadyReported(status: .badSecret) }
        }
        guard isMatch else {
            throw Failure(
                .badSecret, "the code does not match",
                hint: isTimed
                    ? "a timed code needs right clocks on both sides; timedatectl shows this machine's"
                    : "a counted code is accepted once, and at most \(OneTimePassword.lookAhead) counters ahead")
        }
    }

    private func documentStart() -> JSONDocument {
        var document = JSONDocument()
        if let path {
            document.field("item", .text(path.item.text))
            document.field("field", .text(path.field.text))
        }
        return document
    }

    private struct Settings {
        let type: String
        let hash: String
        let period: UInt64?

        init(_ password: borrowing OneTimePassword) {
            hash = password.hash.rawValue
            switch password.factor {
            case .time(let period): (type, self.period) = ("totp", period)
            case .counter: (type, period) = ("hotp", nil)
            }
        }
    }
}
