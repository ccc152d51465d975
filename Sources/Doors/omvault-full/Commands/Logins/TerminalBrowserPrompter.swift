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
    static let standardBrowser = "/usr/bin/xdg-open"

    /// Whether a browser could show a window.
    static var hasDisplay: Bool { ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(Environment.text($0) ?? "").isEmpty } }

    private let context: CommandContext
    private let profile: Profile
    private let browser: String?
    private let problem = Mutex<Failure?>(nil)

    /// - Parameter browser: The program that opens an address. Nil: none.
    init(_ context: CommandContext, _ profile: Profile, browser: String?) {
        (self.context, self.profile, self.browser) = (context, profile, browser)
    }

    /// Why the person gave no address.
    var failure: Failure? { problem.withLock { $0 } }

    /// - Throws: ``ExitStatus/inputRequired`` if nobody would see what is shown.
    func requirePerson() throws(Failure) {
        guard context.terminal.mayAsk else {
            throw Failure(
                .inputRequired, "a person has to log in at the server's own pages, and --no-input forbids asking",
                hint: "log in once without --no-input; the session stays in the agent")
        }
        guard context.output.format == .json || context.terminal.isThere || browser != nil else {
            throw Failure(
                .inputRequired, "there is no browser to open, and no terminal to show the address at",
                hint: "log in at a terminal; or give --json, which prints the address on standard error")
        }
    }

    /// - Throws: ``ExitStatus/inputRequired`` if nobody can paste an address.
    func requireTerminal() throws(Failure) {
        guard context.terminal.mayAsk, context.terminal.isThere else {
            throw Failure(
                .inputRequired, "the address has to be pasted at a terminal, and there is none to ask at",
                hint: "log in at a terminal")
        }
    }

    func show(_ step: BrowserStep) {
        switch step {
        case .open(let address):
            let isOpened = open(address)
            guard context.output.format != .json else {
                var document = JSONDocument()
                document.field("step", .text("open"))
                document.field("address", .text(address))
                document.field("opened", .flag(isOpened))
                return StandardError.write(document.finish())
            }
            context.terminal.tell(
                isOpened
                    ? "your browser opens; if it does not, open this address in it:"
                    : "open this address in a browser on this machine:")
            context.terminal.showLine(address)
        case .enter(let code, let address, let whole, let seconds):
            guard context.output.format != .json else {
                var document = JSONDocument()
                document.field("step", .text("enter"))
                document.field("code", .text(code))
                document.field("address", .text(address))
                document.field("complete_address", whole.map { .text($0) } ?? .null)
                document.field("expires_in", .number(Int(seconds)))
                return StandardError.write(document.finish())
            }
            context.terminal.tell(
                "to log in to \(profile.serverOrigin) as client \(profile.oauthClientID ?? ""), open this address in a browser on any "
                    + "device:")
            context.terminal.showLine(address)
            context.terminal.tell("and enter this code there, only if you started this login:")
            context.terminal.showLine(code)
            context.terminal.tell("the code expires in \(DurationText.text(seconds))")
            guard let whole, browser != nil else { return }
            context.terminal.tell("press Enter to open the address with the code in it in a browser here")
            openAfterEnter(whole)
        }
    }

    func pasted() -> SecretBytes? {
        do throws(Failure) {
            return try context.terminal.readSecret(
                "Paste the address to which the browser was sent in the end", name: "the address", for: "--redirect",
                isShown: true)
        } catch {
            problem.withLock { $0 = error }
            return nil
        }
    }

    // MARK: - The browser

    /// Starts the browser, without a shell. The address is one argument: https, or http to this machine.
    ///
    /// - Returns: Whether a program was started.
    private func open(_ address: String) -> Bool {
        guard let browser else { return false }
        let null = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard null >= 0 else { return false }
        defer { close(null) }
        return [browser, address].withCArguments { om_spawn($0, null, null) } > 0
    }

    /// Waits for Enter on a thread of its own, which ends with the process: the login may end before anyone presses it.
    private func openAfterEnter(_ address: String) {
        _ = DetachedThread.start(stack: 512 << 10) {
            guard let terminal = OpenTerminal() else { return }
            var byte: UInt8 = 0
            while read(terminal.descriptor, &byte, 1) == 1 {
                guard byte == UInt8(ascii: "\n") else { continue }
                _ = self.open(address)
                return
            }
        }
    }
}
