// The toolkit's own names as values of options. A conformance of another room's type is public, and so its imports.

public import ArgumentParser
public import OMCrypto

extension HashEncoding: ExpressibleByArgument {}
extension PasswordFunction.Family: ExpressibleByArgument {}
