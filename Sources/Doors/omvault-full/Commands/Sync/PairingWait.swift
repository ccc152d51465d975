// Waiting for the other device of a pairing, and for its user.

internal import Glibc
internal import OMParcels
internal import OMShell
internal import OMSystem

/// A signal ended a wait. What the pairing wrote is removed, and then the signal has its usual effect.
struct InterruptedWait: Error {
    let signal: Int32
}

enum PairingWait {
    private enum End<R> {
        case found(R)
        case signal(Int32)
    }

    /// In milliseconds. A folder tells no one that another machine wrote there.
    private static let pause: Int32 = 500

    /// Looks until `look` returns a value.
    ///
    /// A folder that is not there is waited for: a stick can be in the other device now.
    ///
    /// - Throws: ``InterruptedWait``, and what `look` throws.
    static func result<R>(_ look: () throws -> R?) throws -> R {
        while true {
            switch try untilSignal(look) {
            case .found(let result): return result
            case .signal(SIGTSTP): ProcessEnd.deliver(SIGTSTP)
            case .signal(let number): throw InterruptedWait(signal: number)
            }
        }
    }

    private static func untilSignal<R>(_ look: () throws -> R?) throws -> End<R> {
        let signals = SignalWatch()
        defer { signals.end() }
        while true {
            do {
                if let result = try look() { return .found(result) }
            } catch let failure as Failure where failure.status == .network {}
            var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, pause)
            if waiting.revents != 0, let number = signals.next() { return .signal(number) }
        }
    }

    /// Asks a question at the terminal. A signal ends the question alone, so that the pairing can be removed first.
    ///
    /// - Throws: ``InterruptedWait``, and what `ask` throws.
    static func answer<R: ~Copyable>(_ ask: () throws -> R) throws -> R {
        let signals = HeldSignals()
        defer { signals.end() }
        do {
            let answer = try ask()
            if let number = signals.arrived { throw InterruptedWait(signal: number) }
            return answer
        } catch {
            if let number = signals.arrived { throw InterruptedWait(signal: number) }
            throw error
        }
    }

    /// Throws the error that ended a pairing, after all was cleaned up. A signal has its usual effect.
    static func end(_ error: any Error) throws -> Never {
        if let problem = error as? PairingProblem { throw Failure(problem) }
        guard let interrupted = error as? InterruptedWait else { throw error }
        ProcessEnd.deliver(interrupted.signal)
        throw Failure(aborted: "interrupted while waiting for the other device")
    }
}
