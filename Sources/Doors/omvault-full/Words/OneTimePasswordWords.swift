// Messages for one-time passwords and for recipes of passwords. They repeat nothing of the input, which is secret.

internal import OMCrypto
internal import OMShell

extension Failure {
    init(_ error: OneTimePasswordError) {
        let forms = "otpauth://totp/NAME?secret=BASE32, or the secret alone"
        let renewal = "take the URI again from the service that made it"
        switch error {
        case .notAURI:
            self.init(.corrupt, "this is neither an otpauth URI nor a secret in base32", hint: "it looks like \(forms)")
        case .unknownType:
            self.init(.corrupt, "the otpauth URI has another type than totp and hotp", hint: "it looks like \(forms)")
        case .malformed:
            self.init(
                .corrupt,
                "the otpauth URI is damaged: a % is not followed by two hex digits, a parameter has no value, or a "
                    + "character has no place in a URI", hint: "a blank in a URI is %20")
        case .missing(let parameter):
            self.init(.corrupt, "the otpauth URI has no parameter \(parameter.rawValue)", hint: renewal)
        case .doubled(let parameter):
            self.init(.corrupt, "the otpauth URI has the parameter \(parameter.rawValue) twice", hint: renewal)
        case .secretNotBase32:
            self.init(
                .corrupt, "the secret is not base32, or a character is missing",
                hint: "it has the letters A to Z and the digits 2 to 7; 0, 1 and 8 do not occur")
        case .emptySecret: self.init(.corrupt, "the secret is empty", hint: renewal)
        case .unknownHash:
            self.init(.corrupt, "the otpauth URI has another algorithm than SHA1, SHA256 and SHA512", hint: renewal)
        case .digitsOutOfRange: self.init(.corrupt, "a code has 6 to 8 digits", hint: renewal)
        case .periodOutOfRange: self.init(.corrupt, "a period has 1 to 86400 seconds", hint: renewal)
        case .counterOutOfRange: self.init(.corrupt, "the counter is not a number below 2^64", hint: renewal)
        case .counterUsedUp:
            self.init(
                .policy, "the counter has reached its last value, so there is no next code",
                hint: "ask the service for a new secret")
        case .unusableLabel:
            self.init(usage: "an issuer and an account are text without a colon and without control characters")
        case .tooLong: self.init(.corrupt, "the text is too long for an otpauth URI", hint: renewal)
        }
    }

    init(_ error: PasswordRecipeError) {
        switch error {
        case .malformedCharacters:
            self.init(
                .usage, "--chars takes printable ASCII characters and ranges of them, without blanks",
                hint: "as in a-z0-9_; a dash is itself at the start or the end: --chars=-a-z")
        case .nothingToChoose: self.init(usage: "there are fewer than two characters or words to choose from")
        case .lengthOutOfRange:
            self.init(usage: "a password has 1 to 1024 characters, and a passphrase 1 to 100 words")
        case .entropyOutOfRange:
            self.init(usage: "even the longest password of this kind does not reach so many bits")
        case .malformedWord(let line):
            self.init(
                .usage, "line \(line) of the word list is not one word",
                hint: "a line has one word of at most 64 bytes; dice numbers before it and lines with # are ignored")
        case .doubledWord: self.init(.usage, "the word list has a word twice", hint: "sort -u makes each word unique")
        case .malformedSeparator:
            self.init(usage: "--separator takes at most 64 bytes of text without control characters")
        case .ambiguousSeparator:
            self.init(
                .usage, "with this separator two choices of words could be the same passphrase",
                hint: "give a separator that is in no word, such as --separator .")
        }
    }
}
