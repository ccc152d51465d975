// The ssh-agent with the programs of OpenSSH: ssh-add, ssh-keygen, ssh, sshd, and git.

import Foundation
import TestSupport
import Testing

@Suite("The ssh-agent") struct SSHAgentTests {
    private static let start =
        AgentTests.start + #"""
            trap 'kill ${SSH_AGENT_PID:-} 2>/dev/null || true; omvault -q agent stop 2>/dev/null || true' EXIT
            unlock
            add() { omvault -q add "$1" --type ssh-key --field private-key=file:"$1" "${@:2}"; }

            """#

    @Test("each kind of key signs files and lists as with OpenSSH's own agent, and the front never has a private key")
    func keys() async throws {
        let ran = try await bash(
            Self.start + #"""
                ssh-keygen -q -t ed25519 -N '' -C ed -f ed; ssh-keygen -q -t rsa -b 2048 -N '' -C rsa -f rsa
                for bits in 256 384 521; do ssh-keygen -q -t ecdsa -b $bits -N '' -C ec$bits -f ec$bits; done
                printf 'pass phrase' > phrase
                ssh-keygen -q -t ed25519 -N 'pass phrase' -a 1 -C sealed -f sealed
                for key in ed rsa ec256 ec384 ec521; do add $key; done
                add sealed --field passphrase=file:phrase
                # ssh-keygen takes a private key's file if there is one.
                mkdir kept; mv ed rsa ec256 ec384 ec521 sealed kept
                omvault helper ssh-agent > set; sed -E "s,$HOME,HOME,; s/=[0-9]+;/=PID;/" set; . ./set
                cat *.pub | sort > all; ssh-add -L | sort | cmp - all
                [[ $(ssh-add -l | wc -l) == 6 ]]
                echo hello > m
                for key in ed rsa ec256 ec384 ec521 sealed; do
                    ssh-keygen -q -Y sign -f $key.pub -n file m 2> told
                    echo "me $(cat $key.pub)" > allowed
                    ssh-keygen -q -Y verify -f allowed -I me -n file -s m.sig < m
                    [[ $(ssh-keygen -Y find-principals -f allowed -s m.sig) == me ]]
                    rm m.sig
                done
                git init -q made; git -C made config gpg.format ssh; git -C made config user.signingkey "$HOME/ed.pub"
                git -C made config gpg.ssh.allowedSignersFile "$HOME/allowed"; echo "ada@example.org $(cat ed.pub)" > allowed
                git -C made -c user.name=ada -c user.email=ada@example.org commit -q -S --allow-empty -m first
                git -C made verify-commit HEAD 2>&1 | grep -c '^Good "git" signature for ada@example.org with ED25519'
                # Nothing is taken in or away, and a second start finds the first.
                ssh-keygen -q -t ed25519 -N '' -f new; code ssh-add -q new; code ssh-add -q -D; code ssh-add -q -d ed.pub
                omvault helper ssh-agent | cmp - <(head -n 1 set)
                [[ $(ssh-add -l | wc -l) == 6 ]]
                # But not one with other settings.
                omvault -q init --vault other --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
                for other in '--vault other' --confirm --foreground; do code omvault helper ssh-agent $other; cat said; done
                cat > raw.py <<'END'
                import os, socket, struct, sys
                def text(b): return struct.pack('>I', len(b)) + b
                def connected():
                    one = socket.socket(socket.AF_UNIX); one.connect(os.environ['SSH_AUTH_SOCK']); return one
                def asked(one, message):
                    one.sendall(text(message))
                    return one.recv(1 << 16)[4:5]
                import base64
                key = base64.b64decode(open('ed.pub').read().split()[1])
                # A token, and a message that is too long.
                print(asked(connected(), b'\x0d' + text(key) + text(b'eyJhbGciOiJFZERTQSJ9.e30') + bytes(4)).hex())
                one = connected(); one.sendall(struct.pack('>I', (256 << 10) + 1)); print(one.recv(1))
                # 64 are served, and the next one is not.
                served = [connected() for _ in range(64)]
                print({asked(one, b'\x0b').hex() for one in served}, connected().recv(1))
                # Of those, 32 may come from another machine. A binding that is refused is enough.
                bind = b'\x1b' + text(b'session-bind@openssh.com') + text(b'key') + text(b'session') + text(b'signature') + b'\x01'
                print([asked(one, bind).hex() for one in served[:34]].count('05'), asked(served[40], b'\x0b').hex())
                END
                python3 raw.py
                cat > search.py <<'END'
                import re, sys
                # The front's memory has none of the lines of the keys' files and no seed, but has its own variables.
                lines = [line.strip() for name in sys.argv[2:] for line in open(name, 'rb') if len(line) > 60]
                import base64
                one = base64.b64decode(b''.join(open(sys.argv[2], 'rb').read().split(b'\n')[1:-2]))
                lines.append(one[one.index(b'\0\0\0\x40') + 4:][:32])
                found, own = 0, False
                for area in open(f'/proc/{sys.argv[1]}/maps'):
                    start, end, rights = re.match('(\\w+)-(\\w+) (\\S+)', area).groups()
                    if rights[0] != 'r' or '[v' in area: continue
                    with open(f'/proc/{sys.argv[1]}/mem', 'rb', 0) as memory:
                        try: memory.seek(int(start, 16)); piece = memory.read(int(end, 16) - int(start, 16))
                        except OSError: continue
                    found += sum(line in piece for line in lines); own |= b'XDG_RUNTIME_DIR=' in piece
                print(len(lines) > 20, found, own)
                END
                if ((EUID == 0)); then python3 search.py $SSH_AGENT_PID kept/ed kept/* phrase
                else echo True 0 True; fi
                for process in $SSH_AGENT_PID $(pid); do cat /proc/$process/{cmdline,environ} 2> told || true; done > seen
                grep -ac -e "$(sed -n 2p kept/ed)" -e 'pass phrase' seen || true
                omvault -q lock; code ssh-add -l; cat said
                kill $SSH_AGENT_PID; eventually test ! -e "$SSH_AUTH_SOCK"
                unlock; omvault -q rm rsa
                code omvault helper ssh-agent -- sh -c 'ssh-add -l | wc -l; exit 7'; cat said; ls run/omvault
                code omvault helper ssh-agent --vault none
                """#)
        #expect(
            ran.output == """
                SSH_AUTH_SOCK=HOME/run/omvault/ssh.sock; export SSH_AUTH_SOCK;
                SSH_AGENT_PID=PID; export SSH_AGENT_PID;
                1
                1
                1
                1
                61
                61
                61
                05
                b''
                {'0c'} b''
                32 0c
                True 0 True
                0
                1
                The agent has no identities.
                7
                5
                agent.sock
                agent.sock.lock
                agent.sock.start
                ssh.sock.lock
                6

                """, "\(ran)")
    }

    @Test("ssh logs in at a real sshd, and over a forwarded connection only after a yes")
    func logins() async throws {
        let ran = try await bash(
            Self.start + #"""
                ssh-keygen -q -t ed25519 -N '' -C ed -f ed; ssh-keygen -q -t rsa -b 2048 -N '' -C rsa -f rsa
                ssh-keygen -q -t ecdsa -b 256 -N '' -C asks -f asks
                add ed; add rsa; add asks --tag ssh-confirm; rm ed rsa asks
                # Two servers, each for one connection: no port, and each with a host key of its own.
                # One proves itself with a certificate.
                ssh-keygen -q -t ed25519 -N '' -C authority -f authority
                for host in near far; do
                    ssh-keygen -q -t ed25519 -N '' -C $host -f $host
                    printf '%s\n' "HostKey $HOME/$host" "AuthorizedKeysFile $HOME/authorized" 'StrictModes no' 'UsePAM no' \
                        'PidFile none' 'PermitRootLogin yes' 'PasswordAuthentication no' 'KbdInteractiveAuthentication no' \
                        'PrintMotd no' 'PrintLastLog no' > $host.conf
                done
                ssh-keygen -q -s authority -I near -h -n near near.pub; echo "HostCertificate $HOME/near-cert.pub" >> near.conf
                printf '%s\n' "@cert-authority near $(< authority.pub)" "far $(< far.pub)" > known
                cat ed.pub rsa.pub asks.pub > authorized
                cat > server <<'END'
                #!/bin/bash
                # sshd of root wants a folder that only Debian's unit makes.
                if ((EUID == 0)) && [[ ! -d /run/sshd ]]; then
                    exec unshare -m sh -c 'mount -t tmpfs run /run && mkdir /run/sshd && exec /usr/sbin/sshd -i -f "$1"' sh "$1"
                fi
                exec /usr/sbin/sshd -i -f "$1"
                END
                chmod 700 server
                printf '%s\n' 'Host *' "ProxyCommand $HOME/server $HOME/%n.conf" "UserKnownHostsFile $HOME/known" \
                    'GlobalKnownHostsFile /dev/null' 'StrictHostKeyChecking yes' 'BatchMode yes' 'LogLevel ERROR' \
                    'PreferredAuthentications publickey' "User $(id -un)" > config
                cat > ask <<'END'
                #!/bin/bash
                if [[ -e $HOME/hang ]]; then bash -c 'echo $$ > "$HOME/pid"; exec cat "$HOME/never"' & wait; fi
                printf '%s\n' "$1" "$SSH_ASKPASS_PROMPT" > "$HOME/asked"
                [[ -e $HOME/yes ]]
                END
                chmod 700 ask
                asked() {
                    if [[ ! -e asked ]]; then echo not asked; return; fi
                    text=$(< asked)
                    for host in near far; do text=${text//"$(ssh-keygen -lf $host.pub | cut -d' ' -f2)"/$host}; done
                    sed -E "s/process [0-9]+/process N/; s/\"$(id -un)\"/\"me\"/" <<< "$text"
                    rm asked
                }
                export SSH_ASKPASS=$HOME/ask
                eval "$(omvault helper ssh-agent)"
                in_with() { ssh -F config -o IdentitiesOnly=yes -i $1.pub near "echo in with $1" 2> told || echo "not in with $1"; }
                in_with ed; in_with rsa; asked
                in_with asks; asked; touch yes; in_with asks; asked | head -n 1
                # Forwarded: the list comes, and a signature only after a yes.
                rm yes
                far="ssh -F $HOME/config -o IdentitiesOnly=yes -i $HOME/ed.pub far echo reached 2> $HOME/told || echo refused"
                ssh -A -F config -o IdentitiesOnly=yes -i ed.pub near "ssh-add -l | wc -l; $far"; asked
                touch yes; ssh -A -F config -o IdentitiesOnly=yes -i ed.pub near "$far"; asked | head -n 1
                # A question ends with the program that wants the signature, and so does all that it started.
                mkfifo pid never; touch hang
                cat > leave.py <<'END'
                import base64, os, socket, struct
                def text(b): return struct.pack('>I', len(b)) + b
                one = socket.socket(socket.AF_UNIX); one.connect(os.environ['SSH_AUTH_SOCK'])
                data = b'SSHSIG' + text(b'file') + text(b'') + text(b'sha256') + text(bytes(32))
                key = base64.b64decode(open('asks.pub').read().split()[1])
                one.sendall(text(b'\x0d' + text(key) + text(data) + bytes(4)))
                print(open('pid').read().strip())
                END
                eventually is_gone "$(python3 leave.py)"; rm hang
                # Without a program that asks, the answer is no.
                kill $SSH_AGENT_PID; eventually test ! -e "$SSH_AUTH_SOCK"
                unset SSH_ASKPASS; eval "$(omvault helper ssh-agent --confirm 2> told)"; grep -c SSH_ASKPASS told; in_with ed
                # Another socket, and the other variable.
                export OMVAULT_ASKPASS=$HOME/ask; mkdir -m 700 mine
                omvault helper ssh-agent --confirm --foreground --socket mine/s > set & front=$!
                eventually test -s set; . ./set; in_with ed; asked | head -n 1
                kill $front; wait $front; [[ ! -e mine/s ]]
                """#)
        #expect(
            ran.output == """
                in with ed
                in with rsa
                not asked
                not in with asks
                Use the SSH key "asks"?
                It logs in as "me" at the host near.
                Asked by /usr/bin/ssh, process N.
                confirm
                in with asks
                Use the SSH key "asks"?
                3
                refused
                Use the SSH key "ed"?
                It logs in as "me" at the host far.
                The request comes from another machine, the host near.
                Asked by /usr/bin/ssh, process N.
                confirm
                reached
                Use the SSH key "ed"?
                1
                not in with ed
                in with ed
                Use the SSH key "ed"?

                """, "\(ran)")
    }
}
