/// What an exchange does now.
package enum SyncStep: Hashable, Sendable {
    case pulling, applying, pushing
}
