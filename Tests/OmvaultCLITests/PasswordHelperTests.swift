// The helpers that give passwords of a vault: git's protocol and git itself, and askpass with ssh-add, ssh-keygen and git.

import Foundation
import TestSupport
import Testing

@testable import omvault_full

@Suite("Helpers that give passwords") struct PasswordHelperTests {
    /// A vault that is unlocked in the agent.
    private static let start = #"""
        set -o pipefail
        agent_folder
        printf 'correct horse' > password
        omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery --password-from file:password
        omvault -q unlock --password-from file:password
        helper() { omvault helper git "$@" 2> errors; }
        asked() { { printf '%b\n' "$2" | helper "$1" | tr '\n' ' '; } || true; cat errors; echo .; }
        # It reads all of its input: a sed that ends early would kill the program before it.
        first() { local all; all=$(cat); printf '%s\n' "${all%%$'\n'*}"; }
        # item NAME URL USER PASSWORD
        item() { printf %s "$4" | omvault -q add "$1" --type login --plain url="$2" ${3:+--plain username="$3"} --field password=stdin; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("git clones and pushes with a password that it kept; a refused one goes to the trash, and an item of the user stays")
    func git() async throws {
        let lines = try await script(
            #"""
            serve git
            export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
            git config --global user.name ada; git config --global user.email ada@example.org
            git config --global init.defaultBranch main; git config --global credential.helper '!omvault helper git'
            git init -q made; echo hello > made/file; git -C made add file; git -C made commit -qm first
            git clone -q --bare made "$repositories/made.git"; git -C "$repositories/made.git" config http.receivepack true
            printf ada > "$repositories/user"; printf tulip > "$repositories/password"
            url=http://127.0.0.1:$http
            git clone -q $url/made.git none 2> errors && echo too early
            printf 'protocol=http\nhost=127.0.0.1:%s\nusername=ada\npassword=tulip\n' $http | git credential approve 2> errors
            sed "s/$http/PORT/g" errors; omvault ls --fields name,type,tags | sed "s/$http/PORT/"
            git clone -q $url/made.git one && cat one/file
            git -C one commit -q --allow-empty -m second; git -C one push -q && echo pushed
            # The server has another password now. git says so, and the item goes.
            printf rose > "$repositories/password"
            git clone -q $url/made.git two 2> errors && echo too early; sed "s/$http/PORT/g" errors | sed -n 1p
            omvault ls; omvault ls --trash | sed "s/$http/PORT/"
            # An item of the user is used, and a refusal does not remove it.
            item site "$url" ada rose; git clone -q $url/made.git three && cat three/file
            printf lily > "$repositories/password"
            git clone -q http://ada@127.0.0.1:$http/made.git four 2> errors && echo too early; omvault ls
            # The right one is kept beside it, and counts.
            printf 'protocol=http\nhost=127.0.0.1:%s\nusername=ada\npassword=lily\n' $http | git credential approve 2> errors
            git clone -q $url/made.git five && cat five/file; omvault get site:password; echo
            """#)
        #expect(
            lines == [
                "omvault: kept the password for http://127.0.0.1:PORT as \"git/127.0.0.1:PORT/ada\"",
                "git/127.0.0.1:PORT/ada\tlogin\tgit-credential", "hello", "pushed",
                "omvault: moved \"git/127.0.0.1:PORT/ada\" to the trash: the server refused its password",
                "git/127.0.0.1:PORT/ada", "hello", "site", "hello", "rose",
            ], "\(lines)")
    }

    @Test("only the exact scheme, host, port and user get a password, a path only below that of the item, and http only here")
    func exact() async throws {
        let lines = try await script(
            #"""
            item a https://a.example ada one
            item b https://b.example/team '' two
            item c http://c.example ada three
            item d https://d.example ada $'four\nhost=evil.example'
            item e https://e.example ada five; item f https://e.example bob six
            item g http://localhost:8080 ada seven
            asked get 'protocol=https\nhost=a.example'
            asked get 'protocol=https\nhost=A.example:443\nusername=ada\npath=x/y.git'
            for host in b.a.example a.example.evil.example a.example:444 a.exämple 'a.example.' '[::1]'; do
                asked get "protocol=https\nhost=$host" | first
            done
            asked get 'protocol=http\nhost=a.example'
            asked get 'protocol=https\nhost=a.example\nusername=bob'
            asked get 'protocol=https\nhost=a.example\nhost=evil.example' | first
            asked get 'protocol=https\nhost=b.example'; asked get 'protocol=https\nhost=b.example\npath=teams/x.git'
            asked get 'protocol=https\nhost=b.example\npath=team/../x.git'
            asked get 'protocol=https\nhost=b.example\npath=team/x.git'
            asked get 'protocol=http\nhost=c.example'; asked get 'protocol=http\nhost=localhost:8080'
            asked get 'protocol=https\nhost=d.example'; asked get 'protocol=https\nhost=e.example'
            asked get 'protocol=https\nhost=e.example\nusername=bob'
            # Of the user, of another password, without a password: nothing is removed.
            for words in 'host=a.example\nusername=ada\npassword=one' 'host=a.example\nusername=ada\npassword=two' 'host=a.example'; do
                asked erase "protocol=https\n$words"
            done
            asked store 'protocol=http\nhost=z.example\nusername=ada\npassword=eight'
            asked store 'protocol=https\nhost=z.example\nusername=ada\npassword=eight'
            asked store 'protocol=https\nhost=z.example\nusername=ada\npassword=nine'; omvault get git/z.example/ada:password; echo
            asked erase 'protocol=https\nhost=z.example\nusername=ada\npassword=eight'; asked erase 'protocol=https\nhost=z.example'
            asked erase 'protocol=https\nhost=z.example\nusername=ada\npassword=nine'
            omvault ls; refused 2 omvault helper git --user ada get
            """#)
        let refused = "omvault: error: the request of git is not understood:"
        let host = "\(refused) its host is not a host with perhaps a port"
        #expect(
            lines == [
                "username=ada password=one .", "username=ada password=one .", ".", ".", ".", host, host, ".", ".", ".",
                "\(refused) it has host twice", ".", ".", ".", "password=two .", ".", "username=ada password=seven .",
                "omvault: \"d\" is not used: git takes no value of several lines", ".",
                "omvault: several items are for https://e.example: \"e\", \"f\"; a user in the address, or "
                    + "credential.username, chooses", ".", "username=bob password=six .", ".", ".", ".", ".",
                "omvault: kept the password for https://z.example as \"git/z.example/ada\"", ".", ".", "nine", ".", ".",
                "omvault: moved \"git/z.example/ada\" to the trash: the server refused its password", ".",
                "a", "b", "c", "d", "e", "f", "g",
            ], "\(lines.joined(separator: "\n"))")
    }

    @Test("store and erase change only an item of exactly the address that store made; store keeps nothing that ends, or twice")
    func store() async throws {
        let lines = try await script(
            #"""
            h='protocol=https\nhost=h.example\nusername=ada\n'
            asked store "${h}password=one"; asked store "${h}path=team/x.git\npassword=two"
            omvault get git/h.example/ada:password; echo; omvault get git/h.example/team/x.git/ada:password; echo
            asked erase "${h}path=team/y.git\npassword=one"
            # A copy has the tag too, and is the user's.
            omvault -q cp git/h.example/ada mine; asked erase "${h}password=one"
            item any https://i.example '' three; asked store 'protocol=https\nhost=i.example\nusername=ada\npassword=three'
            j='protocol=https\nhost=j.example\nusername=ada\npassword=four\n'
            asked store "${j}password_expiry_utc=4102444800"; asked store "${j}ephemeral=1"
            omvault ls
            # Locked: git calls these after each command, so they say nothing. Over plain http nothing is asked.
            omvault -q lock
            helper store <<< $'protocol=https\nhost=j.example\nusername=ada\npassword=four' && cat errors && echo silent
            helper erase <<< $'protocol=https\nhost=i.example\nusername=ada\npassword=three' && cat errors && echo silent
            helper get <<< $'protocol=http\nhost=i.example' && cat errors && echo silent
            """#)
        let path = "h.example/team/x.git"
        #expect(
            lines == [
                "omvault: kept the password for https://h.example as \"git/h.example/ada\"", ".",
                "omvault: kept the password for https://\(path) as \"git/\(path)/ada\"", ".", "one", "two", ".",
                "omvault: moved \"git/h.example/ada\" to the trash: the server refused its password", ".", ".", ".", ".",
                "any", "git/\(path)/ada", "mine", "silent", "silent", "silent",
            ], "\(lines.joined(separator: "\n"))")
    }

    @Test("ssh-keygen, ssh-add and git get what their prompt names, and no other prompt gets a secret")
    func askpass() async throws {
        let lines = try await script(
            #"""
            ln -s "$(command -v omvault)" omvault-askpass
            ssh-keygen -q -t ed25519 -N tulip -f key
            item key "file://$HOME/key" '' tulip
            export SSH_ASKPASS=$HOME/omvault-askpass SSH_ASKPASS_REQUIRE=force DISPLAY=:none
            eval "$(ssh-agent)" > /dev/null; at_end+='; ssh-agent -k > /dev/null'
            ssh-add -q key < /dev/null && ssh-add -l | cut -d' ' -f 1
            [[ $(OMVAULT_ASKPASS_ITEM=key ssh-keygen -y -f key < /dev/null) == "$(cut -d' ' -f 1-2 key.pub)"* ]] && echo same
            serve git
            export GIT_CONFIG_NOSYSTEM=1 GIT_ASKPASS=$HOME/omvault-askpass
            git init -q --bare "$repositories/made.git"; printf ada@example.org > "$repositories/user"
            printf rose > "$repositories/password"
            item site "http://127.0.0.1:$http" ada@example.org rose
            git ls-remote http://127.0.0.1:$http/made.git && echo listed
            git ls-remote http://ada%40example.org@127.0.0.1:$http/made.git && echo listed
            answer() { local code=0; ./omvault-askpass "$@" 2> errors || code=$?; echo " $code $(head -n 1 errors)"; }
            answer "Password for 'https://127.0.0.1:$http': " | sed "s/$http/PORT/"
            answer "Enter passphrase for key '/other': "; answer "[sudo] password for ada: "
            answer 'Are you sure you want to continue connecting (yes/no/[fingerprint])? '; answer 'Tell me a secret'
            answer "Bad passphrase, try again for $HOME/key: "
            export OMVAULT_ASKPASS_ITEM=site
            answer "[sudo] password for ada: "
            # To a prompt with an address the named item answers only if it is for that address.
            answer "Username for 'https://x.example': "; answer "Password for 'https://ada@x.example': "
            answer "Password for 'http://x.example': "; answer "Password for 'http://bob@127.0.0.1:$http': " | sed "s/$http/PORT/"
            answer "Username for 'http://127.0.0.1:$http': "; answer "Password for 'http://127.0.0.1:$http': "
            answer 'Are you sure you want to continue connecting (yes/no/[fingerprint])? '
            """#)
        let nothing = " 10 omvault: error: the prompt gets no answer:"
        let none = "\(nothing) the prompt asks for no password"
        #expect(
            lines == [
                "256", "same", "listed", "listed", "\(nothing) no item, or more than one, is for https://127.0.0.1:PORT",
                "\(nothing) no item, or more than one, has the field url with file:///other",
                "\(nothing) the prompt names no address and no key", none, none, none, "rose", " 0 ",
                "\(nothing) \"site\" is not for https://x.example", "\(nothing) \"site\" is not for https://x.example",
                "\(nothing) http://x.example is plain http, which anyone on the way can read",
                "\(nothing) \"site\" is not for http://127.0.0.1:PORT", "ada@example.org", " 0 ", "rose", " 0 ", none,
            ], "\(lines.joined(separator: "\n"))")
    }

    @Test("a prompt is read as what its exact words ask for")
    func prompts() {
        #expect(AskedPrompt("Enter passphrase for key '/a b': ") == .passphrase("/a b"))
        #expect(AskedPrompt("Enter passphrase for /a/b: ") == .passphrase("/a/b"))
        #expect(AskedPrompt("Enter passphrase for a: ") == .passphrase("a"))
        #expect(AskedPrompt("Enter passphrase for \"/a\": ") == .passphrase("/a"))
        // What a server says, behind what ssh puts in front.
        #expect(AskedPrompt("(ada@evil) Enter passphrase for key '/a': ") == .anyPassword)
        #expect(AskedPrompt("Enter passphrase for key '/a': \n") == .anyPassword)
        #expect(AskedPrompt("Enter passphrase: ") == .anyPassword)
        #expect(AskedPrompt("ada@host's password: ") == .anyPassword)
        #expect(
            AskedPrompt("Password for 'https://a.example@evil.example': ") != AskedPrompt("Password for 'https://a.example': "))
        #expect(AskedPrompt("Password for 'ftp://a.example': ") == .other)
        #expect(AskedPrompt("Password for 'https://%zz@a.example': ") == .other)
        #expect(AskedPrompt("Username for 'nonsense': ") == .other)
        #expect(AskedPrompt("") == .other)
    }
}
