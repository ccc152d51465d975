# Runs commands of omvault in a new home, and prints the JSON document of each. JSONReferenceTests compares them with
# docs/reference/json.md.
#
# `shows COMMAND ARGUMENT…` runs `omvault COMMAND ARGUMENT… --json`, where COMMAND is one word of the command's words joined by
# blanks, and prints a line: the command, a tab, the document.

shows() {
    local words=$1 code=0; shift
    # shellcheck disable=SC2086
    omvault $words "$@" --json > .document 2> .errors || code=$?
    [[ -s .document ]] || cp .errors .document
    printf '%s\t%s\n' "$words" "$(cat .document)"
}

printf 'correct horse' > pw; printf 'battery staple' > pw2; printf 'a value' > v; printf 'tr0ub4dor' > login; printf 'wrong' > wrong
printf 'otpauth://totp/Site:ada?secret=MZXW6YTBOI======&issuer=Site' > totp
printf 'otpauth://hotp/Site:ada?secret=MZXW6YTBOI======&counter=1' > hotp
export OMVAULT_PASSWORD_FROM=file:pw XDG_RUNTIME_DIR=$HOME/.run
mkdir -m 700 "$XDG_RUNTIME_DIR"
exec < /dev/null

shows init --kdf-mem 8 --kdf-time 1
shows vault\ create other --kdf-mem 8 --kdf-time 1
shows vault\ default
shows vault\ default other
omvault -q vault default personal
shows vault\ rename other home
shows vault\ ls
shows doctor
shows add github --field password=file:v --field token=file:v
shows add second --field x=file:v
printf '\377\376' > bytes
omvault -q add bytes --field x=file:bytes
omvault -q add site --field otp=file:totp
omvault -q add door --field otp=file:hotp
shows get github
shows get github --reveal
shows get github:token
shows get bytes:x
shows get om://personal/github/token?format=hex
shows get om://personal/github?attr=type
printf '{{ om://personal/github/token }}' > template
shows inject -i template -o filled
shows redact -i template -o redacted
shows set github:token --value-from file:pw
shows set github:token --delete
shows set github --level always
EDITOR='sed -i s/^/x/' shows edit github:token
EDITOR='sed -i "$ a extra: x"' shows edit github
EDITOR=true shows edit github
EDITOR='sed -i /^extra/d' shows edit github
shows add typed --type login --plain username=ada --field password=file:v --tag work --expires 2031-01-31
shows show typed
shows show typed --reveal
shows set typed --type database
shows set typed --type none
shows tag typed home
shows tag typed
shows expire typed never
shows expire typed 2031-01-31
omvault show typed --reveal --json | sed 's/typed/bulk/' > lines
shows add --from-jsonl lines --dry-run
shows add --from-jsonl lines
printf "title,password,icon\nimported,x,1\nimported,y,2\n" > table
shows import table --dry-run
shows import table --into csv
shows export --to csv --reveal-plaintext-risk -o exported.csv csv
sha1sum v | cut -d ' ' -f 1 > breached
shows audit --old 0 --expiring 36500 --weak --reused --breached breached
shows mv typed retyped
shows cp retyped copied
shows ls
shows find value
head -c 70000 /dev/zero > zeros
omvault -q add chunked --field x=file:zeros
shows find value
shows history github
shows history github --diff 2
shows history retyped --diff 1..3
shows rm second
shows restore second
omvault -q add third --field x=file:v
shows rm third --purge --yes
shows otp site
shows otp door
shows otp site --verify-from file:v
shows otp --uri-from file:totp
shows policy\ show
shows policy\ show github
shows policy\ explain github
shows policy\ set history 5
shows key\ slots
shows key\ add-slot --type recovery
shows key\ add-slot --type file --out slot.key
shows key\ add-slot --type password --new-password-from file:pw2
shows key\ rm-slot 4 --yes
shows key\ passwd 5 --new-password-from file:pw
shows key\ passwd 5 --new-password-from file:pw2
shows backup\ create b
shows backup\ verify b
mv ~/.local/share/omvault/personal.omv moved.omv
shows backup\ restore b --replace-living --accept-rollback --yes
shows verify
shows verify --deep
shows log\ ls
shows log\ verify
shows log\ export
shows key\ rekey --yes

shows credential\ add https://a.example --username ada --password-from file:v --vault-password-from file:pw
shows credential\ update https://a.example --tenant t --vault-password-from file:pw
shows credential\ get https://a.example --vault-password-from file:pw
shows credential\ get https://a.example --field password --vault-password-from file:pw
shows credential\ ls --vault-password-from file:pw
shows credential\ rm https://a.example --vault-password-from file:pw

shows agent\ start
shows agent\ status
shows agent\ env
shows unlock
shows status
shows lock
shows agent\ stop
shows status

shows profile\ set work OfflineAuthAllowed=true MaxLoginAttempts=3
shows profile\ show work
shows profile\ refresh work
shows profile\ ls
unset OMVAULT_PASSWORD_FROM
shows login\ enroll ada --profile work --password-from file:login --kdf-mem 8 --kdf-time 1
shows login\ check ada --profile work --mode offline --password-from file:login
shows login\ check ada --profile work --mode offline --password-from file:wrong
shows login\ start ada --profile work --mode offline --password-from file:login
shows login\ passwd ada --profile work --password-from file:login --new-password-from file:pw --kdf-mem 8 --kdf-time 1
shows login\ status
shows token\ ls
shows log\ ls --logins
shows log\ verify --logins
shows logout ada --profile work
shows login\ rm ada --profile work --yes
shows profile\ rm work --yes
shows profile\ import "$(printf 'oamms://settings?AuthServerType::=HTTPBasicAuthentication&LoginURL::=https://id.example/login&LogoutURL::=https://id.example/logout')" --name imported --yes

shows crypto\ hash v
shows crypto\ hash v --salt-bits 64
shows crypto\ hash v --alg md5 --no-base64 --encoding sdk
omvault -q crypto hash v --salt-bits 64 --encoding ldap > stored
shows crypto\ check --hash-from file:stored --value-from file:v
sha256sum v > sums
shows crypto\ hash --check sums
printf 'a value\n' > values
shows crypto\ check --hash-from file:stored --batch values
shows crypto\ password-hash --value-from file:v --memory 8192 --passes 1
shows crypto\ hmac --key-from file:pw v
shows crypto\ kdf --alg hkdf --value-from file:pw --salt-from file:v --length 32
shows crypto\ rand --bytes 8
shows crypto\ encrypt --password-from file:pw --kdf-mem 8 --kdf-time 1 -i v -o c
shows crypto\ decrypt --password-from file:pw -i c -o m
shows crypto\ inspect --in c
omvault -q crypto encrypt --age --password-from file:pw --log-n 10 < pw > c.age
shows crypto\ inspect --in c.age
shows crypto\ keygen --type age --no-password --insecure --out age.txt --pub age.pub
omvault -q crypto encrypt --recipient age.pub < pw > c.age
shows crypto\ inspect --in c.age
shows crypto\ inspect --in age.pub
shows crypto\ keygen --type ed25519 --no-password --insecure --out id.pem --pub id.pub
shows crypto\ inspect --in id.pem
openssl req -x509 -key id.pem -days 1 -subj /CN=a -out a.crt
shows crypto\ inspect a.crt
shows crypto\ convert --in id.pem --out om://personal/moved --password-from file:pw
omvault -q crypto sign --key-from file:id.pem --signature signature v
shows crypto\ verify --key-from file:id.pub --signature signature v
shows crypto\ keygen --type aes --bits 256 --out aes.key
shows crypto\ keygen --type ed25519 --tag signing --password-from file:pw
shows crypto\ keyrm --tag signing --yes --password-from file:pw
shows crypto\ keygen --type aes --bits 256 --out om://personal/aes --password-from file:pw
openssl req -x509 -newkey ed25519 -nodes -keyout ada.key -subj /CN=ada -addext subjectAltName=DNS:ada -days 9 -out ada.crt 2> .errors
omvault -q crypto convert --in ada.key --to p12 --cert ada.crt --encrypt-from file:v -o ada.p12
shows cert\ import ada.p12 --password-from file:v --vault-password-from file:pw
shows cert\ csr db --subject CN=db -o db.csr --vault-password-from file:pw
shows cert\ ls --vault-password-from file:pw
shows cert\ show ada --vault-password-from file:pw
shows cert\ show db --vault-password-from file:pw
shows cert\ attach ada ada.crt --vault-password-from file:pw
shows cert\ rm ada db --yes --vault-password-from file:pw
printf MZXW6YTBOI > secret
shows crypto\ otp-uri --account ada --secret-from file:secret
shows crypto\ algs
shows gen
shows exit-codes
printf '[L = 32]\n\nLen = 0\nMsg = 00\nMD = e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n' > SHA256ShortMsg.rsp
shows vectors\ verify SHA256ShortMsg.rsp
shows vectors\ verify --control SHA256ShortMsg.rsp
shows vectors\ list SHA256ShortMsg.rsp v
shows manual --install man

# Two devices. Both halves of a pairing print two documents.
export OMVAULT_PASSWORD_FROM=file:pw
mkdir two stick
shows sync\ init --vault home --device laptop
shows sync\ remote\ add stick --create --vault home
mkfifo digits; exec 8<> digits
omvault device add --vault home --yes --digits-from 'cmd:head -n 1 digits' --json > added 2> .errors & adding=$!
has_added() { [[ -s added ]]; }; while_runs $adding has_added
sed -nE 's/.*"code":"([^"]*)".*/\1/p' added > code
HOME=$HOME/two omvault device join stick --device desktop --pairing-code-from file:code --kdf-mem 8 --kdf-time 1 --json > joined \
    2> .errors & joining=$!
has_joined() { [[ -s joined ]]; }; while_runs $joining has_joined
sed -nE 's/.*"digits":"([^"]*)".*/\1/p' joined > digits
wait $joining; wait $adding
sed 's/^/device add\t/' added
sed 's/^/device join\t/' joined
shows sync\ now --vault home
shows sync\ status --vault home
shows sync\ status --compare --vault home
shows device\ ls --vault home
# A conflict copy, a name that means another item, and changes that wait.
on_laptop() { omvault -q "$@" --vault home > /dev/null; }
on_desktop() { HOME=$HOME/two omvault -q "$@" > /dev/null; }
for number in {1..22}; do printf '{"name": "n%s", "fields": {"x": "1"}}\n' $number; done > many
printf 1 > one; printf 2 > other
on_laptop add --from-jsonl many; on_laptop add shared --field password=file:one
on_laptop sync now; on_desktop sync now
on_laptop set shared:password --value-from file:other; on_desktop set shared:note --value-from file:one
on_desktop mv n22 n23; on_desktop add n22 --field x=file:other
on_desktop sync now; on_laptop sync now
on_desktop rm --yes n{1..21}; on_desktop sync now; on_laptop sync now
shows sync\ diff --vault home
shows sync\ resolve n22 --yes --vault home
shows device\ rejoin --yes --vault home
shows device\ remove desktop --yes --vault home
shows sync\ remote\ accept 1 --create --yes --vault home
shows sync\ remote\ ls --vault home
shows sync\ remote\ rm 1 --yes --vault home
