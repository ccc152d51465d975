/// What a file says must come of a case.
public enum Expectation: String, Hashable, Sendable {
    case valid
    case invalid
    case acceptable
}
