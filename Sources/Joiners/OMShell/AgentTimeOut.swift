// Whether this process has waited for the agent in vain before omvault-full continued it.

internal import Glibc

/// An agent that did not answer the small program. omvault-full continues the same process, and does not wait for it again.
package enum AgentTimeOut {
    private static let variable = "OMVAULT_AGENT_SILENT"

    /// Called by the small program before omvault-full continues this process.
    package static func note() { setenv(variable, "\(getpid())", 1) }

    /// Whether it was noted for this process. A value from elsewhere has another process's number, and means nothing.
    package static let isNoted: Bool = {
        let value = Environment.text(variable)
        unsetenv(variable)
        return value == "\(getpid())"
    }()
}
