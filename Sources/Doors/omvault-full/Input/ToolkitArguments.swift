// The toolkit's names as values of options. The conformance of another room's type is public, so its imports are public too.

public import ArgumentParser
public import OMCrypto

extension HashEncoding: ExpressibleByArgument {}
extension OneTimePassword.Hash: ExpressibleByArgument {}
extension PasswordFunction.Family: ExpressibleByArgument {}
