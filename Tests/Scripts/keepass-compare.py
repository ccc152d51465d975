# KeePass's XML, made for keepassxc-cli and compared as it prints it, without any code of omvault.
#
# `make N` prints the XML of N entries. `compare A B FOLDER` compares two exports entry by entry: group, title, each field and
# whether it is protected, tags, expiry, and attachments. keepassxc-cli leaves the attachments of KDBX 4 out of its XML. So
# `commands A FOLDER` prints lines for `keepassxc-cli open`, which write those of B into the folder.
import base64
import datetime
import gzip
import sys
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape


def string(name, value, protected=False):
    flag = ' ProtectInMemory="True"' if protected else ""
    return f"<String><Key>{escape(name)}</Key><Value{flag}>{escape(value)}</Value></String>"


def identifier(number):
    return base64.b64encode(number.to_bytes(16, "big")).decode()


def entry(number):
    expires = number % 9 == 0
    parts = [
        f"<Entry><UUID>{identifier(1000 + number)}</UUID><IconID>0</IconID>",
        "<Tags>web;b c</Tags>" if number % 4 == 0 else "<Tags/>",
        "<Times><CreationTime>2020-01-02T03:04:05Z</CreationTime><LastModificationTime>2021-01-02T03:04:05Z</LastModificationTime>",
        f"<ExpiryTime>2031-02-03T04:05:06Z</ExpiryTime><Expires>{expires}</Expires></Times>",
        string("Title", f"entry {number} <é&\U0001F511>"),
        string("UserName", f"user{number}"),
        string("Password", f"p&<\"{number}\u20ac", True),
        string("URL", f"https://{number}.example/?a=1&b=2"),
        string("PIN", f"{number}", True),
        string("plain", f"shown {number}"),
    ]
    if number % 2 == 0:
        parts.append(string("Notes", f"first line of {number}\nsecond\ttab"))
    if number % 3 == 0:
        uri = f"otpauth://totp/Site:user{number}?secret=MZXW6YTBOI&issuer=Site&period=30&digits=6"
        parts.append(string("otp", uri, True))
    if number % 10 == 0:
        parts.append(f'<Binary><Key>photo {number}.bin</Key><Value Ref="{number // 10}"/></Binary>')
    parts.append("</Entry>")
    return "".join(parts)


def make(count):
    binaries = "".join(
        f'<Binary ID="{number}" Compressed="False">{base64.b64encode(bytes([255, 0, number % 256]) * (number % 50 + 1)).decode()}</Binary>'
        for number in range((count + 9) // 10)
    )
    groups = "".join(
        f"<Group><UUID>{identifier(number + 1)}</UUID><Name>group {number}</Name>"
        + "".join(entry(other) for other in range(number, count, 7))
        + "</Group>"
        for number in range(7)
    )
    print(
        f'<?xml version="1.0" encoding="utf-8"?><KeePassFile><Meta><Generator>test</Generator><Binaries>{binaries}</Binaries></Meta>'
        f"<Root><Group><UUID>{identifier(500)}</UUID><Name>Root</Name>{groups}</Group></Root></KeePassFile>"
    )


def seconds(time):
    """Seconds since the year 1, which KDBX 4 has in base64."""
    if time.endswith("Z"):
        since = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ") - datetime.datetime(1, 1, 1)
        return since.days * 86400 + since.seconds
    return int.from_bytes(base64.b64decode(time), "little")


def read(path):
    root = ElementTree.parse(path).getroot()
    binaries = {}
    for binary in root.iterfind("Meta/Binaries/Binary"):
        content = base64.b64decode(binary.text or "")
        binaries[binary.get("ID")] = gzip.decompress(content) if binary.get("Compressed") == "True" else content
    found = {}

    def walk(group, path):
        for one in group.iterfind("Entry"):
            fields = {}
            for text in one.iterfind("String"):
                value = text.find("Value")
                # An empty standard field and a missing one are the same.
                if value.text:
                    name = text.find("Key").text
                    # omvault conceals notes always.
                    fields[name] = (value.text, name == "Notes" or value.get("ProtectInMemory") == "True")
            files = {binary.findtext("Key"): binaries.get(binary.find("Value").get("Ref")) for binary in one.iterfind("Binary")}
            times = one.find("Times")
            expires = seconds(times.findtext("ExpiryTime")) if times.findtext("Expires") == "True" else None
            tags = tuple(sorted(t for t in (one.findtext("Tags") or "").replace(",", ";").split(";") if t))
            key = (path, fields["Title"][0])
            assert key not in found, key
            found[key] = (fields, files, expires, tags)
        for inner in group.iterfind("Group"):
            walk(inner, path + (inner.findtext("Name"),))

    walk(root.find("Root/Group"), ())
    return found


def attachments(found):
    """The entry, the attachment and the number of each attachment."""
    names = [(key, name) for key, value in sorted(found.items()) for name in sorted(value[1])]
    return [(key, name, number) for number, (key, name) in enumerate(names)]


def commands(one, folder):
    for (path, title), name, number in attachments(read(one)):
        print(f'attachment-export "{"/".join(path + (title,))}" "{name}" {folder}/{number}')


def compare(one, other, folder):
    one, other = read(one), read(other)
    assert one.keys() == other.keys(), list(one.keys() ^ other.keys())[:5]
    for key, name, number in attachments(one):
        with open(f"{folder}/{number}", "rb") as file:
            other[key][1][name] = file.read()
    for key, value in one.items():
        assert value == other[key], (key, value, other[key])
    fields = sum(len(value[0]) for value in one.values())
    files = sum(len(value[1]) for value in one.values())
    codes = sum("otp" in value[0] for value in one.values())
    print(f"{len(one)} entries are equal, with {fields} fields, {files} attachments and {codes} one-time passwords")


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
elif sys.argv[1] == "commands":
    commands(*sys.argv[2:])
else:
    compare(*sys.argv[2:])
