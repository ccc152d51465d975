internal import OMShell

/// The result of one check of `omvault doctor`.
struct Diagnosis {
    enum Grade: String {
        case ok
        /// It works, but the user should know or do something.
        case warning
        /// Something does not work, or is not safe.
        case problem
    }

    let check: String
    let grade: Grade
    let found: String
    /// What to do next. Nil if there is nothing to do.
    let next: String?

    static func ok(_ check: String, _ found: String, next: String? = nil) -> Diagnosis {
        Diagnosis(check: check, grade: .ok, found: found, next: next)
    }

    static func warning(_ check: String, _ found: String, next: String) -> Diagnosis {
        Diagnosis(check: check, grade: .warning, found: found, next: next)
    }

    static func problem(_ check: String, _ found: String, next: String) -> Diagnosis {
        Diagnosis(check: check, grade: .problem, found: found, next: next)
    }

    /// The error that a command would end with.
    static func failed(_ check: String, _ failure: Failure, grade: Grade = .problem) -> Diagnosis {
        Diagnosis(
            check: check, grade: grade, found: failure.message,
            next: failure.hints.isEmpty ? nil : failure.hints.joined(separator: "; "))
    }
}
