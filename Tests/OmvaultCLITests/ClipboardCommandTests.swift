// `--clip`: the clipboards of X11, of Wayland, of a terminal and of the user's own programs; what is cleared, and what is not.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The clipboard") struct ClipboardCommandTests {
    /// A vault with the item "site". Its password is "marker", a text that is nowhere else.
    private static let start = #"""
        set -eu -o pipefail
        export XDG_RUNTIME_DIR=$HOME/run OMVAULT_PASSWORD_FROM=file:password
        mkdir -m 700 run
        printf 'correct horse' > password
        marker=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
        omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
        printf %s "$marker" | omvault -q add site --field password=stdin
        marks() { ls "$HOME/run/omvault/clipboard"; }
        none_waits() { [[ -z $(marks) ]]; }
        # The process that waits to clear the clipboard.
        waiting() { cat "$HOME"/run/omvault/clipboard/*; }
        # At the end each of these processes is told to end.
        trap 'for mark in run/omvault/clipboard/*; do mv "$mark" "$mark.ended" 2> /dev/null || true; done
            kill $(jobs -p) 2> /dev/null || true' EXIT

        """#

    /// Programs for a clipboard that is the file `board`.
    private static let board = #"""
        printf '#!/bin/sh\ncat > "$HOME/board"\n' > copy; printf '#!/bin/sh\ncat "$HOME/board"; echo\n' > paste; chmod +x copy paste
        export OMVAULT_CLIP_COPY_CMD=$HOME/copy OMVAULT_CLIP_PASTE_CMD=$HOME/paste
        is_empty() { [[ ! -s board ]]; }

        """#

    @Test("xclip: nothing is printed, the command ends while xclip serves, and the text is cleared only while it is ours")
    func x11() async throws {
        let ran = try await bash(
            Self.start + #"""
                Xvfb -displayfd 5 -screen 0 64x64x8 -nolisten tcp 5> display 2> log &
                while_runs $! test -s display
                export DISPLAY=:$(cat display)
                now() { xclip -selection clipboard -out; }
                is_empty() { [[ -z $(now) ]]; }
                omvault get site --clip 2> said | cat
                sed "s/$marker/SECRET/" said
                [[ $(now) == $marker ]] && echo copied
                tr '\0' ' ' < /proc/$(waiting)/cmdline; echo
                grep -lasF "$marker" /proc/[0-9]*/cmdline /proc/[0-9]*/environ || echo 'in no arguments'
                omvault -q get site --clip=1; eventually is_empty; eventually none_waits; echo cleared
                omvault -q get site --clip=1; printf other | xclip -selection clipboard > /dev/null 2>&1
                eventually none_waits; now; echo
                # A logout.
                omvault -q get site --clip; kill -TERM $(waiting); eventually is_empty; echo cleared
                """#)
        #expect(
            ran.output == """
                omvault: copied "site:password"; the clipboard is cleared in 30s
                copied
                omvault-full clear-the-clipboard 
                in no arguments
                cleared
                other
                cleared

                """, "\(ran)")
    }

    /// The socket of the compositor is outside /tmp, as everywhere: wl-copy has another /tmp.
    @Test("wl-copy: the text is copied and cleared, and is never in a file")
    func wayland() async throws {
        let folder = try TestFolder(in: TestFolder.disk)
        let ran = try await bash(
            Self.start + #"""
                # In no argument: another test writes down those of every process.
                printf %s "$marker" > marker; touch start
                : > "$FOLDER/config"
                as_user=()
                # sway refuses to be root's.
                if ((EUID == 0)); then
                    chown 65534:65534 "$FOLDER"; as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
                fi
                env -i PATH="$PATH" HOME="$FOLDER" XDG_RUNTIME_DIR="$FOLDER" WLR_BACKENDS=headless \
                    WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman "${as_user[@]}" sway -c "$FOLDER/config" > log 2>&1 &
                sway=$!
                while_runs $sway test -S "$FOLDER/wayland-1"
                if ((EUID == 0)); then chmod 755 "$FOLDER"; chmod 777 "$FOLDER/wayland-1"; fi
                export WAYLAND_DISPLAY=$FOLDER/wayland-1
                is_empty() { ! wl-paste > /dev/null 2>&1; }
                files() { find /tmp /var/tmp /dev/shm "$HOME" -newer start -type f -print0 2> /dev/null | xargs -0 -r grep -lsF -f marker; }
                omvault -q get site --clip | cat
                [[ $(wl-paste --no-newline) == $marker ]] && echo copied
                files || echo 'in no file'
                kill -TERM $(waiting); eventually is_empty; echo cleared
                omvault -q get site --clip; wl-copy other
                first=$(waiting); kill -TERM $first; eventually none_waits; wl-paste
                kill $sway; wait $sway || true
                omvault get site --clip || echo "exit $?"
                """#, environment: ["FOLDER": folder.path])
        #expect(ran.output == "copied\nin no file\ncleared\nother\nexit 62\n", "\(ran)")
        #expect(ran.errors.contains("nothing was copied: wl-copy failed"), "\(ran)")
    }

    @Test("programs of the user: a later copy ends the wait of an earlier one, and another text is never cleared")
    func ownPrograms() async throws {
        let ran = try await bash(
            Self.start + Self.board + #"""
                omvault -q get site --clip=3600; [[ $(cat board) == $marker ]] && echo copied
                first=$(waiting)
                omvault -q get site --clip=3600; eventually is_gone $first; [[ $(cat board) == $marker ]] && echo 'still there'
                kill -TERM $(waiting); eventually is_empty; eventually none_waits; echo cleared
                omvault -q get site --clip; printf '%s more' "$marker" > board
                kill -TERM $(waiting); eventually none_waits; [[ $(cat board) == "$marker more" ]] && echo 'not ours'
                omvault -q get site --clip=0; none_waits && echo 'waits for nothing'
                omvault get site --clip --json; omvault gen --clip=7 --json | sed 's/"type".*bits"/…/'
                (unset OMVAULT_CLIP_PASTE_CMD; OMVAULT_CLIP_TIME=9 omvault get site --clip 2>&1)
                printf 'otpauth://hotp/door?secret=JBSWY3DPEHPK3PXP&counter=7' | omvault -q add door --field otp=stdin
                omvault otp door --clip 2>&1; omvault otp --uri-from stdin --clip -q <<< JBSWY3DPEHPK3PXP; wc -c < board
                """#)
        #expect(
            ran.output == #"""
                copied
                still there
                cleared
                not ours
                waits for nothing
                {"schema":"omvault/1","result":"copied","item":"site","field":"password","clears_in":30}
                {"schema":"omvault/1","result":"copied",…:120.0,"clears_in":7}
                omvault: copied "site:password"; omvault does not clear the clipboard, since OMVAULT_CLIP_PASTE_CMD is not set
                omvault: copied the code of "door"; the clipboard is cleared in 30s
                6

                """#, "\(ran)")
    }

    @Test("omvault says that the clipboard is cleared only if it can; copies at once, --clip=0 and a lost folder leave no text")
    func cleared() async throws {
        let ran = try await bash(
            Self.start + Self.board + #"""
                shows() { sed "s|$HOME/||"; }
                (OMVAULT_CLIP_PASTE_CMD=missing-program omvault get site --clip 2>&1); eventually none_waits
                # A program that reads nothing.
                rm board; touch board; (OMVAULT_CLIP_COPY_CMD=true omvault get site --clip 2>&1) | shows; eventually none_waits
                # A newline of Windows.
                printf '#!/bin/sh\ncat "$HOME/board"; printf "\\r\\n"\n' > paste
                omvault -q get site --clip; kill -TERM $(waiting); eventually is_empty; eventually none_waits; echo cleared
                export OMVAULT_CLIP_COPY_CMD=./copy OMVAULT_CLIP_PASTE_CMD='cat board'
                omvault -q get site --clip; kill -TERM $(waiting); eventually is_empty; eventually none_waits; echo 'relative, cleared'
                omvault -q get site --clip; first=$(waiting); omvault -q get site --clip=0; eventually is_gone $first
                none_waits && [[ $(cat board) == $marker ]] && echo 'never cleared'
                copies=(); for one in 1 2 3; do omvault -q get site --clip=3600 & copies+=($!); done; wait "${copies[@]}"
                one_waits() { [[ $(marks | wc -l) == 1 ]]; }
                eventually one_waits; kill -TERM $(waiting); eventually is_empty; eventually none_waits; echo 'the last one cleared'
                omvault -q get site --clip; waiting=$(waiting); rm -r run/omvault/clipboard
                eventually is_gone $waiting; is_empty && echo 'no folder, cleared'
                printf 'ls\nreboot' | omvault -q add lines --field password=stdin; omvault get lines --clip 2>&1
                printf 'otpauth://hotp/door?secret=JBSWY3DPEHPK3PXP&counter=7' | omvault -q add door --field otp=stdin
                OMVAULT_CLIP_COPY_CMD=false omvault otp door --clip 2>&1 || echo "exit $?"; omvault get door:otp | grep -o counter=8
                """#)
        #expect(
            ran.output == #"""
                omvault: copied "site:password"; omvault does not clear the clipboard, since missing-program did not print the text
                omvault: copied "site:password"; omvault does not clear the clipboard, since paste did not print the text
                cleared
                relative, cleared
                never cleared
                the last one cleared
                no folder, cleared
                omvault: copied "lines:password"; the clipboard is cleared in 30s
                omvault: warning: it has more than one line; a shell runs each line that is pasted there
                omvault: error: nothing was copied: false failed with exit code 1
                omvault: hint: this code is used up; the next command gives the next one
                omvault: hint: OMVAULT_CLIP_COPY_CMD names it; it must take the text from standard input, and end
                omvault: hint: omvault otp ITEM
                exit 62
                counter=8

                """#, "\(ran)")
    }

    @Test("5.9 rule 18: without a clipboard the exit code is 62, nothing is printed, and no counted code is used up")
    func refusals() async throws {
        let ran = try await bash(
            Self.start + #"""
                printf 'otpauth://hotp/door?secret=JBSWY3DPEHPK3PXP&counter=7' | omvault -q add door --field otp=stdin
                printf '\033[2J' | omvault -q add bytes --field password=stdin
                head -c 1100000 /dev/zero | omvault -q add large --field file=stdin
                shows() { local code=0; "$@" > out 2> errors || code=$?; echo "$code$(cat out) $(head -n 1 errors)"; }
                shows omvault get site --clip
                shows omvault otp door --clip; omvault get door:otp | grep -o counter=7
                shows env DISPLAY=:0 PATH="$(dirname "$(command -v omvault)")" omvault gen --clip

                """# + Self.board + #"""
                    shows omvault get --clip nothing
                    shows omvault get bytes --clip
                    shows omvault get large:file --clip
                    shows omvault get site --clip --reveal
                    shows omvault gen --clip --count 2
                    shows omvault gen --clip=x
                    shows omvault otp door --clip --verify-from file:password
                    (export OMVAULT_CLIP_TIME=soon; shows omvault get site --clip)
                    (export OMVAULT_CLIP_COPY_CMD="'"; shows omvault get site --clip)
                    (export OMVAULT_CLIP_COPY_CMD=false; shows omvault get site --clip; none_waits && echo none)
                    (export OMVAULT_CLIP_COPY_CMD=missing-program; shows omvault get site --clip)
                    test ! -e board
                    """#)
        let none = "there is no clipboard:"
        #expect(
            ran.output == """
                62 omvault: error: \(none) neither WAYLAND_DISPLAY nor DISPLAY is set, and no terminal can take it
                62 omvault: error: \(none) neither WAYLAND_DISPLAY nor DISPLAY is set, and no terminal can take it
                counter=7
                62 omvault: error: \(none) xclip is not installed, and no terminal can take it
                10 omvault: error: no item "nothing" in vault "personal"
                2 omvault: error: the value is not printable text, so it was not copied
                2 omvault: error: the value has 1100000 bytes, and the clipboard gets at most 1 MiB
                2 omvault: error: --reveal prints, and --clip does not; give only one
                2 omvault: error: the clipboard holds one text: give --clip without --count
                2 omvault: error: --clip takes 0 to 604800 seconds
                2 omvault: error: --clip copies a code, and --verify-from checks one; give only one
                9 omvault: error: OMVAULT_CLIP_TIME is "soon", which is not a number of seconds
                9 omvault: error: OMVAULT_CLIP_COPY_CMD has an open quote, or no word
                62 omvault: error: nothing was copied: false failed with exit code 1
                none
                62 omvault: error: nothing was copied: missing-program did not start

                """, "\(ran)")
    }

    @Test("a terminal gets an escape sequence, also through tmux and screen; omvault says that it cannot clear it")
    func terminal() async throws {
        let script = Self.start + "printf tulip | omvault -q add bulb --field password=stdin; omvault get bulb --clip"
        let sequence = "\u{1B}]52;c;dHVsaXA=\u{7}"
        for (variable, shown) in [
            "COLORTERM": sequence, "TMUX": "\(sequence)\u{1B}Ptmux;\u{1B}\(sequence)\u{1B}\\",
            "STY": "\u{1B}P\(sequence)\u{1B}\\",
        ] {
            let ran = try await atTerminal(script, environment: ["TERM": "xterm", variable: "yes"])
            #expect(
                ran.output.contains(
                    shown + #"omvault: asked the terminal to copy "bulb:password"; omvault cannot clear a terminal's clipboard"#),
                "\(ran)")
        }
        let dumb = try await atTerminal(script, environment: ["TERM": "dumb"])
        #expect(dumb.status == 62 && !dumb.output.contains("\u{1B}"), "\(dumb)")
    }
}
