// What a person sees during a login at the server's own pages.

internal import COMSystem
internal import Glibc
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import Synchronization

/// Shows addresses and codes at the terminal, or as JSON on standard error, and opens a browser. `--quiet` does not hide them.
final class TerminalBrowserPrompter: BrowserPrompter {
    private let context: CommandContext
    private let profile: Profile
    private let browser: BrowserProgram?
    /// Whether the person pastes the browser's last address.
    private let pastes: Bool
    private let problem = Mutex<Failure?>(nil)
    /// Whether the person was asked for the address.
    private let asked = Mutex(false)

    /// - Parameter browser: The program that opens an address. Nil: none.
    init(_ context: CommandContext, _ profile: Profile, browser: BrowserProgram?, pastes: Bool) {
        (self.context, self.profile, self.browser, self.pastes) = (context, profile, browser, pastes)
    }

    /// Why the page was not seen, or no address was pasted.
    var failure: Failure? { problem.withLock { $0 } }

    /// - Throws: ``ExitStatus/inputRequired`` under `--no-input`.
    func requirePerson() throws(Failure) {
        guard context.terminal.mayAsk else {
            throw Failure(
                .inputRequired, "a person has to log in at the server's own pages, and --no-input forbids asking",
                hint: "log in once without --no-input; the session stays in the agent")
        }
    }

    /// - Throws: ``ExitStatus/inputRequired`` without a terminal to paste an address at.
    func requireTerminal() throws(Failure) {
        guard context.terminal.isThere else {
            throw Failure(
                .inputRequired, "the address has to be pasted at a terminal, and there is none to ask at",
                hint: "log in at a terminal")
        }
    }

    func show(_ step: BrowserStep) -> Bool {
        let isOpened: Bool
        switch step {
        case .open(let address): isOpened = browser?.open(address) ?? false
        case .enter: isOpened = false
        }
        guard context.output.format != .json else {
            print(step, isOpened: isOpened)
            return true
        }
        guard context.terminal.isThere || isOpened else {
            problem.withLock { problem in
                problem = Failure(
                    .inputRequired, "there is no terminal to show the address at, and no browser was started",
                    hint: "log in at a terminal; or give --json, which prints the address on standard error")
            }
            return false
        }
        switch step {
        case .open(let address): tell(address, isOpened: isOpened)
        case .enter(let code, let address, let whole, let seconds):
            context.terminal.tell(
                "to log in to \(profile.serverOrigin) as client \(profile.oauthClientID ?? ""), open this address in a browser on any "
                    + "device:")
            context.terminal.showLine(address)
            context.terminal.tell("and enter this code there, only if you started this login:")
            context.terminal.showLine(code)
            context.terminal.tell("the code expires in \(DurationText.text(left(of: seconds)))")
            guard let whole, browser != nil else { break }
            context.terminal.tell("press Enter to open the address with the code in it in a browser here")
            openAfterEnter(whole)
        }
        return true
    }

    private func tell(_ address: String, isOpened: Bool) {
        if let browser, !isOpened { context.terminal.tell("\(browser.path.shown) could not be started") }
        context.terminal.tell(
            isOpened
                ? "your browser opens; if it does not, open this address in it:"
                : pastes ? "open this address in any browser:" : "open this address in a browser on this machine:")
        context.terminal.showLine(address)
    }

    /// A step for a program that shows it.
    private func print(_ step: BrowserStep, isOpened: Bool) {
        var document = JSONDocument()
        switch step {
        case .open(let address):
            document.field("step", .text("open"))
            document.field("address", .text(address))
            document.field("opened", .flag(isOpened))
        case .enter(let code, let address, let whole, let seconds):
            document.field("step", .text("enter"))
            document.field("code", .text(code))
            document.field("address", .text(address))
            document.field("complete_address", whole.map { .text($0) } ?? .null)
            document.field("expires_in", .number(Int(left(of: seconds))))
        }
        StandardError.write(document.finish())
    }

    /// How long the person has: the code's life, or less if the profile gives less.
    private func left(of seconds: UInt32) -> UInt32 { min(seconds, profile.browserTimeOut.map { UInt32(clamping: $0) } ?? .max) }

    func pasted() -> SecretBytes? {
        let isAgain = asked.withLock { asked in
            defer { asked = true }
            return asked
        }
        if isAgain { context.terminal.tell("that is not the address that belongs to this login") }
        do throws(Failure) {
            let text = try paste()
            guard text.count > 0 else { throw Failure(aborted: "no address was pasted") }
            return text
        } catch {
            problem.withLock { $0 = error }
            return nil
        }
    }

    private func paste() throws(Failure) -> SecretBytes {
        let prompt = "Paste the address to which the browser was sent in the end"
        // Attack: the address of the implicit grant has the tokens in it, and a terminal keeps what it shows.
        guard !profile.isImplicit else { return try context.terminal.readSecretAddress(prompt, for: "--redirect") }
        return try context.terminal.readSecret(prompt, name: "the address", for: "--redirect", isShown: true)
    }

    // MARK: - The browser

    /// Waits for Enter on a thread of its own, which ends with the process: the login may end before anyone presses it.
    private func openAfterEnter(_ address: String) {
        _ = DetachedThread.start(stack: 512 << 10) {
            guard let terminal = OpenTerminal() else { return }
            var byte: UInt8 = 0
            while read(terminal.descriptor, &byte, 1) == 1 {
                guard byte == UInt8(ascii: "\n") else { continue }
                _ = self.browser?.open(address)
                return
            }
        }
    }
}
