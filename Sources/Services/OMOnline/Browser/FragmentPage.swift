// The page that brings a token: the only page of a login with a script.

internal import NIOHTTP1
internal import OMCrypto
internal import OMSecrets

/// A page whose script posts the fragment of its own address to the socket that waits. No browser sends a fragment by itself.
enum FragmentPage {
    /// The address is cleared first: a token in it would be in the next entry of the history too. So a reload has nothing to post.
    static let script = """
        const fragment=location.hash.slice(1);history.replaceState(null,"",location.pathname);\
        const show=text=>{document.querySelector("p").textContent=text};\
        if(fragment)fetch(location.pathname,{method:"POST",body:fragment}).then(answer=>answer.text()).then(show,\
        ()=>show("omvault no longer waits. Log in again."));\
        else show("This address has no answer. Use the page that omvault opened.")
        """

    private static let body = """
        <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>omvault</title><p>The answer is on its way to omvault.</p>\
        <noscript>It needs the script of this page. Without it: log in with --redirect paste.</noscript>\
        <script>\(script)</script></html>\n
        """

    /// Attack: a text that reaches the page runs as a script. Only this script runs, and it reaches only this socket.
    static let page = LoopbackPage(
        status: .ok,
        headers: RedirectPage.headers(for: body, allowing: "script-src 'sha256-\(digest)'; connect-src 'self'; "), body: body)

    private static var digest: String {
        guard let digest = try? Digest.of(Array(script.utf8), .sha256) else { fatalError("no SHA-256") }
        let text = Base64.encode(SecretBytes(copying: digest))
        return text.withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    }
}
