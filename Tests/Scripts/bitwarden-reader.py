# Bitwarden's JSON export, read without any code of omvault.
#
# `make N` prints N items as lines for `omvault add --from-jsonl`.
# `check LINES EXPORT REPORT` compares an export of these items, and the report about it, with the lines: each field exactly once.
import base64
import json
import sys


def make(count):
    types = ["login", "note", "card", "identity", "api-key", None]
    for number in range(count):
        kind = types[number % len(types)]
        item = {"schema": "omvault/1", "name": f"group {number % 7}/sub/item {number}", "fields": {}}
        fields = item["fields"]
        if kind:
            item["type"] = kind
        if number % 5 == 0:
            item["tags"] = ["favorite", "web"]
        if number % 11 == 0:
            item["expires"] = "2031-01-01T00:00:00Z"
        if kind in ("login", None):
            fields |= {"username": f"user{number}", "password": f"p\"\\{number}\u00e9\u20ac\U0001F511", "url": f"https://{number}.example"}
            fields["url-2"] = f"https://b{number}.example"
            fields["otp"] = "otpauth://totp/Site:ada?secret=MZXW6YTBOI&issuer=Site"
        if kind == "card":
            fields |= {"number": f"4111{number}", "holder": "Ada L", "code": "123", "brand": "Visa", "pin": "9"}
        if kind == "identity":
            fields |= {"name": "Ada L", "email": "a@b.example", "phone": "+1", "address": "A\nB"}
        if kind == "api-key":
            fields |= {"key": f"k{number}\n\tx"}
        fields["notes"] = f"line\nof {number}"
        fields["email" if kind != "identity" else "mail"] = "x@y.example"
        if number % 13 == 0:
            fields["photo"] = {"base64": base64.b64encode(bytes([255, 0, number % 256])).decode()}
        item["shown"] = [name for name in ("username", "url", "url-2") if name in fields]
        print(json.dumps(item))


def expected(line):
    """The item as Bitwarden has it, with the report's losses."""
    fields = {name: value for name, value in line["fields"].items() if isinstance(value, str)}
    lost = len(line["fields"]) - len(fields)
    kind = line.get("type")
    is_login = kind == "login" or kind in (None, "api-key") and any(n in fields for n in ("username", "password", "url", "otp"))
    number = 1 if is_login else {"card": 3, "identity": 4}.get(kind, 2)
    parts = line["name"].split("/")
    want = {"type": number, "name": parts[-1], "folder": "/".join(parts[:-1]), "notes": fields.pop("notes", None)}
    want["favorite"] = "favorite" in line.get("tags", [])
    lost += len([t for t in line.get("tags", []) if t != "favorite"]) + ("expires" in line) + (kind == "api-key")
    if number == 1:
        urls = [fields.pop(n) for n in ("url", "url-2") if n in fields]
        want["login"] = {n: fields.pop(o, None) for n, o in (("username", "username"), ("password", "password"), ("totp", "otp"))}
        want["login"]["uris"] = [{"match": None, "uri": url} for url in urls]
    if number == 3:
        places = {"number": "number", "cardholderName": "holder", "brand": "brand", "code": "code"}
        want["card"] = {n: fields.pop(o, None) for n, o in places.items()}
    if number == 4:
        places = {"firstName": "name", "address1": "address", "email": "email", "phone": "phone", "username": "username"}
        want["identity"] = {n: fields.pop(o, None) for n, o in places.items()}
    shown = line["shown"]
    want["fields"] = sorted((name, value, 0 if name in shown else 1) for name, value in fields.items())
    return want, lost


def check(lines, export, report):
    lines = [json.loads(line) for line in open(lines, encoding="utf-8")]
    export = json.load(open(export, encoding="utf-8"))
    report = {item["name"]: item for item in json.load(open(report, encoding="utf-8"))["items"]}
    assert export["encrypted"] is False
    folders = {folder["id"]: folder["name"] for folder in export["folders"]}
    assert len(set(folders.values())) == len(export["folders"])
    found = {}
    for item in export["items"]:
        path = folders[item["folderId"]] + "/" + item["name"]
        assert path not in found, path
        found[path] = item
    assert len({item["id"] for item in export["items"]}) == len(lines) == len(found), (len(lines), len(found))
    for line in lines:
        want, lost = expected(line)
        item = found[line["name"]]
        got = {name: item.get(name) for name in want if name not in ("folder", "fields")}
        got["folder"] = folders[item["folderId"]]
        got["fields"] = sorted((field["name"], field["value"], field["type"]) for field in item["fields"])
        assert got == want, (got, want)
        assert item["creationDate"].endswith("Z") and item["deletedDate"] is None and item["reprompt"] == 0
        assert len(report[line["name"]]["lost"]) == lost, (report[line["name"]], lost)
    print(len(lines), "items are equal")


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    check(*sys.argv[2:])
