// The shells that complete words, and the scripts of `omvault completion`. Each asks omvault at every Tab:
// `omvault ---complete SHELL …`. The first line of the answer is `words`, `files` or `folders`; each line after `words` is one
// word that fits.
//
// Attack: an item is called `$(rm -r ~)`. No script lets its shell expand what omvault answers, and none runs the program that
// the line names: `./omvault` could be any file, and the user has not pressed Enter.

internal import ArgumentParser
internal import OMShell

enum CompletingShell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish

    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// Bash inserts the words of `COMPREPLY` as they are, so omvault answers them quoted for the place where they go.
    ///
    /// Attack: the line has a secret behind `<<<`, and another user reads the arguments of every process. So it is no argument.
    private static let bashScript = #"""
        _omvault() {
            local -a answer
            COMPREPLY=()
            mapfile -t answer < <(printf '%s' "${COMP_LINE:0:COMP_POINT}" |
                command omvault ---complete bash "$COMP_WORDBREAKS" 2>/dev/null)
            case ${answer[0]-} in
                words) COMPREPLY=("${answer[@]:1}") ;;
                files) compopt -o default ;;
                folders) compopt -o dirnames ;;
            esac
            [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[:=] ]] || compopt -o nospace
        }

        complete -F _omvault omvault

        """#

    /// Zsh quotes what it inserts. A word behind `!` begins with a quote that the user need not type.
    private static let zshScript = #"""
        #compdef omvault

        _omvault() {
            local -a answer fit fit_about other other_about
            local line word shown
            answer=("${(@f)$(command omvault ---complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            [[ $PREFIX != --*=* ]] || compset -P 1 '*='
            case $answer[1] in
                (files) _files; return ;;
                (folders) _files -/; return ;;
            esac
            for line in "${(@)answer[2,-1]}"; do
                word=${${line#?}%%$'\t'*}
                shown=$word
                [[ $line != *$'\t'* ]] || printf -v shown '%-22s  %s' "$word" "${line#*$'\t'}"
                case $line in
                    (+*) fit+=("$word") fit_about+=("$shown") ;;
                    (!*) other+=("$word") other_about+=("$shown") ;;
                esac
            done
            local -a ended=("${(@M)fit:#*[:=]}") ended_about=("${(@M)fit_about:#*[:=]}")
            compadd -l -d ended_about -S '' -a ended
            fit=("${(@)fit:#*[:=]}") fit_about=("${(@)fit_about:#*[:=]}")
            compadd -l -d fit_about -a fit
            compadd -l -d other_about -U -a other
        }

        if [[ $funcstack[1] == _omvault ]]; then
            _omvault "$@"
        else
            compdef _omvault omvault
        fi

        """#

    /// Fish quotes what it inserts, and finds a word by a part of it.
    private static let fishScript = #"""
        function __omvault_complete
            set -l words (commandline -opc)
            set -l typed (commandline -ct)
            set -l plain (string unescape -- "$typed"; or string trim -lc '\'"' -- "$typed")
            set -l answer (command omvault ---complete fish $words[2..-1] "$plain" 2>/dev/null)
            switch "$answer[1]"
                case words
                    printf '%s\n' $answer[2..-1]
                case files
                    __fish_complete_path "$typed"
                case folders
                    __fish_complete_directories "$typed"
            end
        end

        complete -c omvault -f -a '(__omvault_complete)'

        """#
}
