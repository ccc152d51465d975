// Why an answer to an open question was not taken.

package import OMItems

/// Why an answer was not taken.
package enum AnswerProblem: Error, Hashable, Sendable {
    case vault(VaultError)
    /// What the user saw is not there any more.
    case hasChanged
    /// The answer does not fit the question.
    case doesNotFit
    /// The item beside the copy was purged, so it can get no content.
    case noItem
    /// All devices that list the change were removed.
    case ofRemovedDevice
}
