public enum LoginStep: Hashable, Sendable {
    case asking, stretching, storing
}
