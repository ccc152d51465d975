/// The result that a file expects of a case.
public enum Expectation: String, Hashable, Sendable {
    case valid
    case invalid
    case acceptable
}
