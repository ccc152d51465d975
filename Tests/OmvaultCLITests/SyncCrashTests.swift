// A device that is killed at a sync to disk or a rename in the middle of an exchange.

import Foundation
import TestSupport
import Testing

@Suite("An exchange that is killed") struct SyncCrashTests {
    @Test("killed at any sync to disk or rename, of the vault or of the folder, it loses nothing and sends nothing twice")
    func killed() async throws {
        // The first two syncs belong to the unlock: a kill there delays the next password.
        let points = Sweep.points(upTo: 60, sample: 4).map { String($0 + 2) }.joined(separator: " ")
        let ran = try await bash(
            SyncCommandTests.devices + """
                found; pair
                same() {
                    for home in a b; do
                        on $home ls > names-$home
                        while read -r name; do echo "$name $(on $home get "$name:password")"; done < names-$home > values-$home
                    done
                    cmp values-a values-b
                }
                for call in fdatasync fsync rename renameat2; do
                    for n in \(points); do
                        for home in a b; do
                            [[ $home == a ]] && other=b || other=a
                            printf "$call $n $home" > value
                            on $other -q set github:password --value-from file:value
                            on $other -q add "new $call $n $home" --field password=file:value
                            on $other -q sync now > /dev/null
                            printf "more" > value
                            on $home -q add "own $call $n $home" --field password=file:value
                            code=0
                            HOME=$HOME/$home strace -f -qq -o trace -e trace=$call -e inject=$call:signal=SIGKILL:when=$n \\
                                omvault -q sync now > out 2> err || code=$?
                            # 61: the kill met the helper that writes the folder.
                            [[ $code == 0 || $code == 137 || $code == 61 ]] || { echo "$call $n: $code"; cat err; }
                            # It goes on where it was. The other device takes all of it.
                            on $home -q sync now > out 2> err || cat err
                            on $other -q sync now > out 2> err || cat err
                            same
                        done
                        [[ $code != 0 ]] || break
                    done
                done
                wc -l < names-a | tr -d ' ' > count; [[ $(cat count) -gt 20 ]]
                grep -c conflict names-a || true
                on a verify --deep > /dev/null; on b verify --deep > /dev/null; echo whole
                """)
        #expect(ran.output == "0\nwhole\n", "\(ran)")
    }
}
