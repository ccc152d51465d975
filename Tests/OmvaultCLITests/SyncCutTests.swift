// A large value whose push or pull is cut between two packs.

import Foundation
import TestSupport
import Testing

@Suite("A large value that is cut") struct SyncCutTests {
    /// For the figures: `OMVAULT_WHOLE=1` cuts 64 MiB, and prints the packs and seconds.
    @Test("a large value that is cut at any pack is whole on the other device, and no chunk is sent twice")
    func cut() async throws {
        // A push has at most 3 MiB, so 7 MB are several pushes.
        let count = Sweep.count(64 << 20, sample: 7_000_000)
        let ran = try await bash(
            SyncCommandTests.devices + """
                found; pair
                head -c \(count) /dev/urandom > big
                on a -q add big --field file=file:big
                on b -q sync now > /dev/null
                cp -r a a.before; cp -r stick stick.before
                # traced HOME CALLS OPTION…: an exchange, with the calls of both processes that name a file.
                traced() {
                    local home=$1 calls=$2 code=0; shift 2
                    HOME=$HOME/$home strace -f -qq -s 200 -o trace -e trace=$calls "$@" omvault -q sync now < /dev/null > out 2> err || code=$?
                    echo $code
                }
                # The packs and heads that the last exchange named in these calls, in their order.
                named() { grep -oE '"([0-9a-f]{16}\\.pack|head(\\.1)?)"' trace | tr -d '"' | uniq || true; }
                packs() { grep -c '\\.pack$' || true; }
                ids() { python3 "$HOME/ids.py" stick/*/*/*.pack; }
                cat > ids.py <<'PY'
                import collections, sys
                found = collections.Counter()
                for name in sys.argv[1:]:
                    pack = open(name, 'rb').read()
                    at = 33
                    for _ in range(int.from_bytes(pack[29:33], 'big')):
                        length = int.from_bytes(pack[at:at + 4], 'big')
                        found[pack[at + 6:at + 22]] += 1
                        at += 4 + length
                    assert at == len(pack)
                print(len(found), max(found.values()))
                PY
                traced a rename,renameat,renameat2 > ended; [[ $(cat ended) == 0 ]] || { cat err; exit 1; }
                named > whole; ids > ids.whole
                SECONDS=0 cuts=0
                while read -r file; do
                    rm -r a stick; cp -r a.before a; cp -r stick.before stick
                    before=$(sed "\\\\|^$file\\$|,\\$d" whole | packs)
                    traced a rename,renameat,renameat2 -P "$file" -e inject=rename,renameat,renameat2:signal=SIGKILL:when=1 > ended
                    [[ $(cat ended) != 0 ]] || echo "not cut at $file"
                    traced a rename,renameat,renameat2 > ended; [[ $(cat ended) == 0 ]] || { echo "behind $file"; cat err; }
                    # Only what was not there is written: the files of the cut push again, and the rest.
                    after=$(named | packs)
                    [[ $((before + after)) == $(packs < whole) ]] || echo "$file: $before and $after packs"
                    ids | cmp - ids.whole || ids
                    cuts=$((cuts + 1))
                done < whole
                [[ $cuts == $(wc -l < whole) && $cuts -gt 2 ]] || echo "few cuts"
                echo "push: $(packs < whole) packs, $cuts cuts, $SECONDS s" > figures
                cp -r b b.before; cp -r stick stick.before2
                traced b openat,openat2 > ended; [[ $(cat ended) == 0 ]] || { cat err; exit 1; }
                named | grep '\\.pack$' > whole
                on b get big:file | cmp - big
                SECONDS=0 cuts=0
                while read -r file; do
                    rm -r b stick; cp -r b.before b; cp -r stick.before2 stick
                    traced b openat,openat2 -P "$file" -e inject=openat,openat2:signal=SIGKILL:when=1 > ended
                    [[ $(cat ended) != 0 ]] || echo "not cut at $file"
                    [[ $(on b ls | wc -l) == 1 ]] || echo "half a pull at $file"
                    on b -q sync now > /dev/null
                    on b get big:file | cmp - big
                    # Twice changes nothing, and nothing goes back.
                    on b sync now | cut -f 2-4 >> again; on a sync now | cut -f 2-4 >> again
                    cuts=$((cuts + 1))
                done < whole
                echo "pull: $(packs < whole) packs, $cuts cuts, $SECONDS s" >> figures
                sort -u again
                on b verify --deep > /dev/null; on a verify --deep > /dev/null
                [[ $cuts == $(wc -l < whole) && $cuts -gt 2 ]] || echo "few cuts"
                cat figures >&2
                echo whole
                """)
        #expect(ran.output == "idle\t0\t0\nwhole\n", "\(ran)")
        if Sweep.isWhole { print(ran.errors) }
    }
}
