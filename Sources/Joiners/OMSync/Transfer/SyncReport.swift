/// What an exchange with a remote did.
package struct SyncReport: Hashable, Sendable {
    package var pull = PullReport()
    package var push = PushReport()

    package init() {}
}
