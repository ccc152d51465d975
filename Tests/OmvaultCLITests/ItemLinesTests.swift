import ArgumentParser
import OMItems
import OMSecrets
import OMShell
import Testing

@testable import omvault_full

@Suite("The lines of add --from-jsonl") struct ItemLinesTests {
    /// Another process adds an item between the check of the names and the change.
    @Test("an error of the vault about an item gets the number of its line, and another error stays as it is")
    func located() throws {
        let text = "{\"name\":\"a\",\"fields\":{}}\n\n{\"name\":\"b\",\"fields\":{}}\n"
        let context = try CommandContext(GlobalOptions.parse([]))
        let items = try ItemLines(
            SecretBytes(copying: Array(text.utf8)), level: nil, Progress(total: text.utf8.count, context))
        let taken = items.located(Failure(VaultError.itemExists(try ItemName("b")), vault: "personal"))
        #expect(taken.message.hasPrefix("line 3: ") && taken.status == .exists)
        for error in [VaultError.itemExists(try ItemName("c")), .noItem(try ItemName("b")), .rekeyed] {
            let failure = Failure(error, vault: "personal")
            #expect(items.located(failure).message == failure.message)
        }
    }
}
