// A large value whose way to another device is cut: behind each file of a push, at each chunk of a pack, at each sync to
// disk of a pull.

import Foundation
import TestSupport
import Testing

@Suite("A large value that is cut") struct SyncCutTests {
    /// Which cuts one script makes: every `of`th push from `first` on, and the tears and pulls if `arrives`.
    struct Part: Sendable {
        let first: Int, of: Int, arrives: Bool
    }
    /// The whole sweep takes longer than one script may run.
    static let parts =
        Sweep.isWhole
        ? (1...3).map { Part(first: $0, of: 3, arrives: false) } + [Part(first: 1, of: 1000, arrives: true)]
        : [Part(first: 1, of: 1, arrives: true)]

    /// `OMVAULT_WHOLE=1` cuts 64 MiB, and prints the numbers of cuts and the seconds.
    @Test(
        "a large value that is cut anywhere is whole on the other device, and no chunk is sent twice", .serialized,
        arguments: parts)
    func cut(part: Part) async throws {
        // A pack has at most 3 MiB, so these are two.
        let count = Sweep.count(64 << 20, sample: 3_300_000)
        let ran = try await bash(
            SyncCommandTests.folder + """
                found; pair
                count=\(count) step=\(Sweep.isWhole ? 1 : 2)
                head -c $count /dev/urandom > big
                on a -q add big --field file=file:big
                on b -q sync now > /dev/null
                cp -r a a.before; cp -r stick stick.before
                # traced HOME CALLS OPTION…: an exchange, with the calls of both processes that name a file.
                traced() {
                    local home=$1 calls=$2 code=0 filter=--seccomp-bpf; shift 2
                    # With this filter no kill is injected.
                    [[ "$*" != *inject* ]] || filter=
                    HOME=$HOME/$home strace $filter -f -qq -s 200 -o trace -e trace=$calls "$@" \\
                        omvault -q sync now < /dev/null > out 2> err || code=$?
                    echo $code
                }
                # The packs that the last exchange named in these calls, in their order.
                named() { grep -oE '"([^"]*/)?[0-9a-f]{16}\\.pack"' trace | tr -d '"' | uniq || true; }
                ids() { python3 "$HOME/ids.py" stick/*/*/*.pack; }
                cat > ids.py <<'PY'
                # The number of parcels, and how often the most frequent one is there; or where each parcel begins.
                import collections, sys
                found, places = collections.Counter(), []
                for name in (name for name in sys.argv[1:] if name != '--places'):
                    pack = open(name, 'rb').read()
                    at = 33
                    for _ in range(int.from_bytes(pack[29:33], 'big')):
                        length = int.from_bytes(pack[at:at + 4], 'big')
                        found[pack[at + 6:at + 22]] += 1
                        places.append((at, name))
                        at += 4 + length
                    assert at == len(pack)
                if sys.argv[1] == '--places':
                    for place in places: print(*place)
                else:
                    print(len(found), max(found.values()))
                PY
                # The helper syncs the device's folder behind each file that it has put there.
                device=$(on a device ls --json | grep -oE '"number":"[0-9a-f]{8}","name":"laptop"' | cut -d '"' -f 4)
                mine=$(echo "$HOME"/stick/*/"$device")
                traced a fsync -P "$mine" > ended; [[ $(cat ended) == 0 ]] || { cat err; exit 1; }
                files=$(grep -c fsync trace); ids > ids.whole
                rm -r a stick; cp -r a.before a; cp -r stick.before stick
                traced a rename > ended; packs=$(named | wc -l)
                SECONDS=0 cuts=0
                for n in $(seq \(part.first) \(part.of) "$files"); do
                    rm -r a stick; cp -r a.before a; cp -r stick.before stick
                    traced a fsync -P "$mine" -e inject=fsync:signal=SIGKILL:when=$n > ended
                    [[ $(cat ended) != 0 ]] || echo "not cut behind file $n"
                    before=$(comm -13 <(cd stick.before/*/"$device"; ls | grep pack) <(cd "$mine"; ls | grep pack) | wc -l)
                    traced a rename > ended; [[ $(cat ended) == 0 ]] || { echo "behind file $n"; cat err; }
                    # What was there is not written again, but for the one pack of the push that was cut.
                    after=$(named | wc -l)
                    [[ $((before + after)) -le $((packs + 1)) ]] || echo "file $n: $before and $after of $packs packs"
                    ids | cmp - ids.whole || ids
                    cuts=$((cuts + 1))
                done
                [[ $packs -gt 1 && $cuts -ge $((files / \(part.of))) && $files -gt $packs ]] || echo "few cuts: $cuts, $packs packs"
                echo "push: $packs packs, $cuts of $files cuts, $SECONDS s" > figures
                if ! \(part.arrives); then cat figures >&2; printf 'idle\\t0\\t0\\nwhole\\n'; exit; fi
                # A tool carries the folder, and is cut at each chunk: the file is torn there. Both devices have the first pack.
                cp -r b b.before; SECONDS=0 cuts=0
                python3 "$HOME/ids.py" --places "$mine"/*.pack | sed '/01.pack$/d' > places
                while read -r place file; do
                    mv "$file" whole.pack; head -c "$place" whole.pack > "$file"
                    [[ $(on b sync now 2> err | cut -f 3-4) == $'0\t0' ]] || { echo "torn at $place of $file"; cat err; }
                    [[ $(on b ls | wc -l) == 1 ]] || echo "half a pull at $place of $file"
                    mv whole.pack "$file"; cuts=$((cuts + 1))
                done < places
                [[ $cuts -gt $((count / 300000)) ]] || echo "few chunks: $cuts"
                echo "torn: $cuts chunks, $SECONDS s" >> figures
                # A pull that is killed at each sync to disk of the vault. The first two belong to the unlock.
                rm -r b; cp -r b.before b; cp -r a a.before2; cp -r stick stick.before2
                traced b fsync,fdatasync > ended; [[ $(cat ended) == 0 ]] || { cat err; exit 1; }
                on b get big:file | cmp - big
                syncs=$(grep 'sync(' trace | cut -d ' ' -f 1 | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
                SECONDS=0 cuts=0 half=0
                for n in $(seq 3 $step "$syncs"); do
                    rm -r a b stick; cp -r a.before2 a; cp -r b.before b; cp -r stick.before2 stick
                    traced b fsync,fdatasync -e inject=fsync,fdatasync:signal=SIGKILL:when=$n > ended
                    # The number of syncs differs by a few: the database decides when it moves its log.
                    [[ $(cat ended) != 0 ]] || break
                    # The item is not here, or it is here with all of its value.
                    if [[ $(on b ls | wc -l) == 1 ]]; then half=$((half + 1)); else on b get big:file | cmp - big; fi
                    on b -q sync now > /dev/null
                    on b get big:file | cmp - big
                    # What the kill left here is not taken for what the remote lacks.
                    ids | cmp - ids.whole || ids
                    # Twice changes nothing, and nothing goes back.
                    on b sync now | cut -f 2-4 >> again; on a sync now | cut -f 2-4 >> again
                    cuts=$((cuts + 1))
                done
                echo "pull: $cuts cuts, $half before the item, $SECONDS s" >> figures
                sort -u again
                on b verify --deep > /dev/null; on a verify --deep > /dev/null
                [[ $half -gt 1 && $cuts -ge $(((syncs - 5) / step)) ]] || echo "few cuts: $half of $cuts, $syncs syncs"
                cat figures >&2
                echo whole
                """)
        #expect(ran.output == "idle\t0\t0\nwhole\n", "\(ran)")
        if Sweep.isWhole { print(ran.errors) }
    }
}
