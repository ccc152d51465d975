# usage: completion.bash SHELL, in a new home: asks a shell (bash, zsh or fish) what it offers for each line of the file `typed`,
# with the script of `omvault completion`. It prints the number of the line, a tab and a word, for each word.
#
# The file `items` has the names of items, and `skips` how many words of each line are before the word that is completed. The
# shell itself reads the line that it has made: a word with a wrong quote is another word then, or makes the file `ran`.
set -euo pipefail

mkdir -m 700 run
export XDG_RUNTIME_DIR=$PWD/run
printf pw > pw
: > words
for vault in personal work 'my vault'; do
    omvault -q init "$vault" --no-recovery --kdf-mem 8 --kdf-time 1 --password-from file:pw > made
done
omvault -q --vault work add "name-""at-work" --password-from file:pw --field password=file:pw
omvault -q unlock --password-from file:pw
while IFS= read -r item; do omvault -q add --field password=file:pw -- "$item"; done < items
omvault -q set github:token --value-from file:pw
omvault -q tag github work 'two words' '$(touch ran)'
omvault -q add gone --field password=file:pw
omvault -q rm gone
for profile in corp default; do omvault -q profile set $profile OfflineAuthAllowed=true > made; done

# In bash and zsh a key inserts all words that the shell offers, and another one writes the line into the file `out`.
case $1 in
    bash)
        cat > rc <<'END'
PS1='ready> '
source <(omvault completion bash)
bind 'set enable-bracketed-paste off'
bind '"\C-xa": insert-completions'
asked() { printf '%s\n' "$READLINE_LINE" >> out; READLINE_LINE=; printf '<%s>' asked; }
bind -x '"\C-xb": asked'
END
        bash --rcfile rc -i ;;
    zsh)
        mkdir .zfunc
        omvault completion zsh > .zfunc/_omvault
        cat > .zshrc <<'END'
PS1='ready> '
fpath=(~/.zfunc $fpath)
autoload -U compinit
compinit -u -D
asked() { print -r -- "$BUFFER" >> out; BUFFER=; print -n '<asked>'; }
zle -N asked
bindkey '^Xb' asked
zle -C all complete-word _generic
bindkey '^Xa' all
zstyle ':completion:all:*' completer _all_matches _complete
zstyle ':completion:all:*' insert yes
setopt no_beep
END
        ZDOTDIR=$PWD zsh -d -i ;;
    fish)
        mkdir -p .config/fish/completions
        omvault completion fish > .config/fish/completions/omvault.fish
        cat > rc <<'END'
set -l number 0
while read -l line
    for word in (complete --escape -C "$line" | string replace -r '\t.*' '')
        eval "printf '%s\t%s\n' $number $word"
    end
    set number (math $number + 1)
end < typed
END
        fish rc > found ;;
esac
if [[ $1 != fish ]]; then
    cat > evaluate <<'END'
number=0
while IFS= read -r line && IFS= read -r skip <&3; do
    eval "set -- $line"
    shift $skip
    for word; do printf '%s\t%s\n' $number "$word"; done
    number=$((number + 1))
done < out 3< skips
END
    "$1" "$([[ $1 == bash ]] && echo --norc || echo -f)" evaluate > found
fi
omvault -q agent stop
echo '<found>'
cat found
[[ ! -e ran ]] || echo '<ran>'
