from __future__ import annotations

import base64
import html
import json
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ragcheck.redaction import REDACTED, Redactor, header_secrets, shown_url, url_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWING = Redactor()
KEY_LINE = "MIIEowIBAAKCAQEA7mPzGk2QyT0vXw9uR4sJ8LcN1fHbD5aYeWqZxC3oVtKgUiSr"

# Every secret here is made up. Texts in guillemets have to go; the rest has to stay.
SECRETS = [
    "Authorization: Bearer «d9b1a0c2e4f6a8b0»",
    "authorization: Token «d9b1a0c2e4f6a8b0»",
    "Proxy-Authorization: «d9b1a0c2e4f6a8b0»",
    '{"authorization": "Bearer «d9b1a0c2e4f6a8b0»"}',
    '{\\"Authorization\\": \\"ApiKey «d9b1a0c2e4f6a8b0»\\"}',
    "curl -H 'Authorization: Basic «dXNlcjpwYXNzd29yZA==»' http://localhost",
    "sent basic «dXNlcjpwYXNzd29yZA» once more",
    "refused: bearer «eyAbCdEf12345678»",
    "Cookie: «session=8f14e45fceea167a; theme=dark»",
    "Set-Cookie: «sid=8f14e45fceea167a; Path=/»",
    "X-Api-Key: «d9b1a0c2e4f6a8b0»",
    "api_key='«d9b1a0c2e4f6a8b0»'",
    '"client_secret": "«d9b1a0c2e4f6a8b0»"',
    "RAG_TOKEN=«d9b1a0c2e4f6a8b0» pytest",
    "DB_PASSWORD=«hunter2»",
    "passwd: «hunter2», user: bob",
    "AccountKey=«Zm9vYmFyMTIzNDU2Nzg5MA==»",
    "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
    "X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0»",
    "postgres://«bob:hunter2»@db/answers",
    "https://«bob:p@ss@word»@example.org/query",
    "https:\\/\\/«bob:hunter2»@example.org\\/query",
    "https://«d9b1a0c2e4f6a8b0c1»@example.org/repository.git",
    "GET /query?api_key=«swordfish»&k=5",
    "GET /query?k=5&access_token=«swordfish» HTTP/1.1",
    "GET /blob?sv=2024&sig=«swordfish»",
    "«sk-proj-Ab12Cd34Ef56Gh78Ij90»",
    "«ghp_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78»",
    "«github_pat_11ABCDEFG0abcdefghij_klmnopqrstuvwxyz0123456789»",
    "«glpat-Ab12Cd34Ef56Gh78Ij90»",
    "«glpat-AbCd12-EfGh_34-IjK56»",
    "鍵«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4»",
    "«xoxb-123456789012-abcdefghijkl»",
    "«hf_AbCdEfGhIjKlMnOp12345678»",
    "«AKIAIOSFODNN7EXAMPLE»",
    "«AIzaSyA1234567890abcdefghijklmnopqrstuv»",
    "«sk_live_51Ab12Cd34Ef56Gh78Ij90»",
    "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4»",
    "https://hooks.slack.com/services/«T00000000/B00000000/abcdefghijkl»",
    f"a\n«-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINE}\nIBAAK\n-----END RSA PRIVATE KEY-----»\nb",
    f"«-----BEGIN PRIVATE KEY-----\n{KEY_LINE}, cut off»",
    "Bearer «hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh»",
    "«dckr_pat_Ab12Cd34Ef56Gh78Ij90» | docker login",
    "/«bot123456789:AAHjouYxw2EFQL3yYIc-CHXgPE3nzIvWYrN»/getMe",
    "tool --api-key «Ab12Cd34Ef56» --top-k 5",
    "['tool', '--db-password', '«hunter-22»', '-v']",
    "curl -u «bob:hunter22» http://localhost",
    "curl --user '«bob:hunter 2»' http://localhost",
    "requests.get(url, auth=('bob', '«hunter-22»'))",
    'credential=AzureKeyCredential("«Ab12Cd34Ef56Gh78»")',
    "(b'x-api-key', b'«Ab12Cd34Ef56»')",
    "<Cookie «sid=Ab12Cd34Ef56» for localhost/>",
    "curl --cookie '«sid=Ab12Cd34Ef56»' http://localhost",
    "PHPSESSID=«Ab12Cd34Ef56»; path=/",
    "SECRET_KEY = '«ab1!x2@w#5v&1q*7m(3n)0p-r=t+y»'",
    '{"log": "{\\"body\\": \\"{\\\\\\"token\\\\\\": \\\\\\"«Ab12Cd34Ef56»\\\\\\"}\\"}"}',
    "{&quot;password&quot;: &quot;«hunter22»&quot;}",
    "&#x27;api_key&#x27;: &#x27;«Ab12Cd34Ef56»&#x27;",
    "%22api_key%22%3A%22«Ab12Cd34Ef56»%22%7D",
    "?next=http%3A%2F%2Flocalhost%3Faccess_token%3D«swordfish»%26k%3D5",
    "?sv=2024&amp;sig=«swordfish»&amp;k=5",
]

PROSE = [
    "the authorization: see chapter 4",
    "Authorization: required for every route",
    "Send the header Authorization: Bearer <token> with each request.",
    "Authorization: Bearer YOUR_API_KEY",
    "Bearer certificates are payable to whoever holds them.",
    "Basic Communication skills; a basic understanding of it; BASIC was a language.",
    "key=value pairs, a=b&c=d, and x?key=value in the docs",
    "The key: a token of love. The secret: patience. Password: at least 8 characters.",
    "token: sha256, signature: HS256",
    '{"token": "the", "key": "refund-window", "password": "string"}',
    "Cookie: a small file that a site stores",
    "sk-learn-based-pipelines-of-2024",
    "http://localhost:8000/query and mail bob@example.org",
    '["http://a:1","b@example.org"]',
    "git clone ssh://git@example.org/repository.git",
    "refund id eyJ, AKIA, ghp_, hf_ and xoxb- are prefixes",
    "The token endpoint is token: https://example.org/v2/oauth/token",
    "Basic: $12 a month; API key: ask support.",
    "Срок возврата: 30 дней. パスワード：八文字以上。",
    "2+2=4; session=closed; password ***",
    "Password: 12-character minimum, changed every 90 days. Signing key: 2048-bit RSA.",
    "Signature: HMAC-SHA256. Encryption key: AES-256-GCM. Non-fungible token: ERC-721.",
    "Token: /oauth2/v2/token",
    "Connect to postgres://user:password@localhost/app2, mysql://${DB_USER}:${DB_PASSWORD}@db1 or redis://:pass@db2.",
    "GET /query?api_key=YOUR_API_KEY&k=5, ?token={token} or ?access_token=your-token",
    "It is between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----.",
    "Copy it from -----BEGIN PRIVATE KEY----- on, save the file and restart.",
    "Use curl -u user:password, docker run -u 1000:1000, git checkout -b feature-2024 and --key server1.pem.",
    'Use auth=("user", "password") or AzureKeyCredential("your key").',
    '["api_key", "session_id_2"]',
    'token = base64.b64encode(user, "sha1"); secret = client.get_secret("db-password-2")',
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_recognised_by_its_place_or_its_look(text: str) -> None:
    before, _, rest = text.partition("«")
    _, _, after = rest.partition("»")
    assert UNKNOWING.text(text.replace("«", "").replace("»", "")) == before + REDACTED + after


@pytest.mark.parametrize("text", PROSE)
def test_ordinary_prose_stays_as_it_is(text: str) -> None:
    assert UNKNOWING.text(text) == text


KNOWN = 's3cr3t/wörd&<"1>'
USERINFO = "bob:correct horse"


@pytest.mark.parametrize(
    "form",
    [
        KNOWN,
        quote(KNOWN, safe=""),
        quote(KNOWN),
        quote(KNOWN, safe="").lower(),
        json.dumps(KNOWN)[1:-1],
        json.dumps(KNOWN, ensure_ascii=False)[1:-1],
        json.dumps(KNOWN)[1:-1].replace("/", "\\/"),
        "s3cr3t/wörd&amp;&lt;&quot;1&gt;",
        quote(quote(KNOWN, safe=""), safe=""),
        json.dumps(KNOWN)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
        repr(KNOWN)[1:-1],
        repr(KNOWN.encode())[2:-1],
        base64.b64encode(KNOWN.encode()).decode(),
        base64.urlsafe_b64encode(KNOWN.encode()).decode().rstrip("="),
        base64.b64encode(USERINFO.encode()).decode(),
        "bob%3Acorrect+horse",
    ],
)
def test_a_known_secret_is_found_in_whatever_form_a_server_echoes_it(form: str) -> None:
    assert Redactor([KNOWN, USERINFO]).text(f"body: {form}").rstrip("=") == f"body: {REDACTED}"


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("secret", [KNOWN, "s3cr3t-tokens-are-long", "16 letters, here"])
@pytest.mark.parametrize("before", ["", "x", "xy", "user:", '{"token": "'])
@pytest.mark.parametrize("twice", [False, True])
def test_base64_of_a_known_secret_is_found_inside_other_data(secret: str, before: str, twice: bool) -> None:
    for around in (f"{before}{secret}", f'{before}{secret}"}}', f"{before}{secret} and more"):
        encoded = in_base64(in_base64(around)) if twice else in_base64(around)
        for form in (encoded, encoded.translate(str.maketrans("+/", "-_")).rstrip("=")):
            shown = Redactor([secret]).text(f"body: {form}")
            kept = shown.removeprefix("body: ").partition(REDACTED)
            assert kept[1], form
            # The last bytes before the secret and the first ones after it share a character with it.
            lost = len(form) - len(kept[0]) - len(kept[2])
            assert lost >= len(in_base64(in_base64(secret)) if twice else in_base64(secret)) - 9


@pytest.mark.parametrize(
    "escape",
    [
        lambda char: "".join(f"%{byte:02X}" for byte in char.encode()),
        lambda char: "".join(f"%25{byte:02x}" for byte in char.encode()),
        lambda char: "".join(f"\\u{unit:04x}" for unit in utf_16(char)),
        lambda char: "".join(f"\\\\u{unit:04X}" for unit in utf_16(char)),
        lambda char: f"&#{ord(char)};",
        lambda char: f"&#x{ord(char):x};",
        lambda char: f"&#X{ord(char):06X};",
        lambda char: f"&amp;#{ord(char)};",
        lambda char: f"\\u{{{ord(char):x}}}",
        lambda char: f"\\U{ord(char):08x}",
    ],
)
@pytest.mark.parametrize("secret", [KNOWN, USERINFO, "pass\\\\word😀", "new\\é\nline", "short"])
def test_a_known_secret_is_found_with_all_or_some_characters_escaped(secret: str, escape: Callable[[str], str]) -> None:
    clean = Redactor([secret])
    assert clean.text(f"body: {''.join(map(escape, secret))}.") == f"body: {REDACTED}."
    some = "".join(escape(char) if place % 3 == 1 else char for place, char in enumerate(secret))
    assert clean.text(f"body: {some}.") == f"body: {REDACTED}."


def utf_16(char: str) -> list[int]:
    units = char.encode("utf-16-be")
    return [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]


@pytest.mark.parametrize("encode", [json.dumps, html.escape, quote, repr, lambda text: json.dumps(html.escape(text))])
def test_a_secret_with_backslashes_and_control_characters_is_found_in_encoded_form(
    encode: Callable[[str], str],
) -> None:
    for secret in ("one\\éclair", "tab\\\n9+x", "C:\\new\\u00e9\\", "50%25off&co"):
        assert encode(secret).strip("'\"").rstrip("\\") not in Redactor([secret]).text(f"body: {encode(secret)} end")


def test_other_escaped_text_stays_as_it_is() -> None:
    text = r"100 %, 50%25, a\u0041, &#65;&amp;, a+b, \\n, R&D, c2VjcmV0 and YWJjZGVmZ2hpamtsbW5vcA=="
    assert Redactor([KNOWN, USERINFO, "short"]).text(text) == text


def test_white_space_around_a_known_secret_is_no_part_of_it() -> None:
    assert Redactor(["  correct-horse\n"]).text("<correct-horse>") == f"<{REDACTED}>"


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("Authorization", "Bearer horse", ["Bearer horse", "horse"]),
        ("Authorization", "Basic YTpwdzEyMw==", ["Basic YTpwdzEyMw==", "YTpwdzEyMw==", "a:pw123", "pw123"]),
        ("Authorization", "Basic no-base64", ["Basic no-base64", "no-base64"]),
        ("Cookie", "SID=abcdef0123; lang=en", ["SID=abcdef0123; lang=en", "lang=en", "abcdef0123"]),
        ("X-Api-Key", "", []),
        ("Accept", "text/html", []),
    ],
)
def test_the_secrets_of_a_header_are_its_value_and_its_parts(name: str, value: str, secrets: list[str]) -> None:
    assert header_secrets(name, value) == secrets


def test_a_longer_secret_goes_before_a_shorter_one_inside_of_it() -> None:
    assert Redactor(["horse-battery", "correct-horse-battery"]).text("correct-horse-battery") == REDACTED


def test_a_short_secret_is_redacted_as_a_word_only() -> None:
    clean = Redactor(["test"])
    assert clean.text("the latest test, tested") == f"the latest {REDACTED}, tested"


def test_equal_secrets_and_no_others_get_equal_numbers() -> None:
    clean, secrets = Redactor(["correct-horse"]), dict[str, str]()
    assert (
        clean.numbered("correct-horse, password: lumio2024.", secrets) == "[redacted 7001], password: [redacted 7002]"
    )
    assert clean.numbered("password: lumio2024 and token=x1y2z3a4b5", secrets) == (
        "password: [redacted 7002] and token=[redacted 7003]"
    )
    assert clean.numbered("no secret", secrets) == "no secret"
    assert list(secrets) == ["correct-horse", "lumio2024", "x1y2z3a4b5"]


def test_half_a_secret_or_more_before_the_end_of_an_excerpt_is_redacted() -> None:
    clean = Redactor(["correct-horse", "test-key"])
    assert clean.text("a correct-hors…, correct-h… and test-ke…") == f"a {REDACTED}…, {REDACTED}… and {REDACTED}…"
    # Less than half of a secret is part of ordinary text, and so are words that only end like one.
    for text in ("it is correct…", "a test…", "the latest-s…", "correct-hors."):
        assert Redactor(["correct-horse-battery", "test-secret"]).text(text) == text


def test_a_secret_too_short_to_be_one_is_left_alone() -> None:
    assert Redactor(["abc", " ", ""]).text("abc and more") == "abc and more"


def test_a_part_of_the_replacement_is_no_secret() -> None:
    clean = Redactor(["redacted"])
    assert clean.text(clean.text("it was redacted")) == "it was redacted"


def test_lone_surrogates_are_replaced_and_whole_characters_kept() -> None:
    assert UNKNOWING.text("a\ud800b 😀 é") == "a\N{REPLACEMENT CHARACTER}b 😀 é"


def test_a_document_is_redacted_in_all_its_strings_keys_too() -> None:
    document = {"correct-horse": ["correct-horse", {"a": ("correct-horse", 1, 0.5, True, None)}]}
    assert Redactor(["correct-horse"]).document(document) == {
        REDACTED: [REDACTED, {"a": [REDACTED, 1, 0.5, True, None]}]
    }


def test_more_texts_than_are_remembered_are_all_redacted_each_time() -> None:
    redactor = Redactor(["correct-horse"])
    texts = [f"{n} correct-horse {'.' * 300}" for n in range(3000)]
    for _ in range(2):
        assert [redactor.text(text) for text in texts] == [text.replace("correct-horse", REDACTED) for text in texts]


def test_a_text_of_a_class_of_its_own_is_not_remembered_for_an_equal_plain_one() -> None:
    class Own(str):
        __slots__ = ()

    redactor = Redactor()
    assert redactor.text(Own("30 days")) == "30 days"
    assert type(redactor.text("30 days")) is str


def test_what_json_cannot_hold_is_written_as_text_and_redacted_too() -> None:
    class Object:
        def __str__(self) -> str:
            return "an object with correct-horse"

    document = MappingProxyType({1: Object(), "nan": float("nan"), "inside": MappingProxyType({"x": "correct-horse"})})
    assert Redactor(["correct-horse"]).document(document) == {
        "1": f"an object with {REDACTED}",
        "nan": "nan",
        "inside": {"x": REDACTED},
    }


PIECES = st.sampled_from(
    ["Authorization: ", "Bearer ", "token=", "password: ", "://", "bob:", "@", "hunter2", "correct-horse", "sk-", "eyJ",
     "d9b1a0c2e4f6a8b0", "&sig=", "?", " ", "\"", "\\", "/", ".", "-----BEGIN PRIVATE KEY-----", REDACTED, "cookie: a="]
)  # fmt: skip


@pytest.mark.parametrize("unit", ["%61", "&#97;", "&amp;", "\\u0061", "\\", "a", "a+", "YWFh", "…", "aaaaaaa…"])
def test_hostile_encodings_of_a_known_secret_are_searched_in_linear_time(unit: str) -> None:
    clean = Redactor(["a" * 1_000 + "b", "aaaaaaaaab", "\\\\-------", "16 letters, here"])
    text = unit * (500_000 // len(unit))
    assert clean.text(f"{text} &#49;6 letters, here").endswith(f" {REDACTED}")


@given(st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join))
@example("token=correct-horse1")
@example("://a:correct-horse@")
@example("correct-hors…")
@example("&sig=cookie: a=cookie: a=hunter2")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    clean = Redactor(["correct-horse", "bob:hunter2"])
    once = clean.text(text)
    assert clean.text(once) == once
    assert "correct-horse" not in once


@pytest.mark.parametrize(
    "unit",
    [
        "-eyJ",
        "eyJ.",
        "://a:",
        "Bearer A ",
        "token=",
        "&a=",
        "cookie: a=b;",
        "-----BEGIN ",
        "authorization:[",
        "?key=--",
    ],
)
def test_hostile_text_is_redacted_in_linear_time(unit: str) -> None:
    # In quadratic time, as an earlier pattern had it, this would take many minutes.
    text = unit * (500_000 // len(unit))
    assert UNKNOWING.text(f"{text} -----END PRIVATE KEY----- hf_AbCdEfGhIjKlMnOp12345678").endswith(REDACTED)


@pytest.mark.parametrize(
    ("url", "shown", "secrets"),
    [
        ("http://localhost:8000/query", "http://localhost:8000/query", []),
        ("http://bob:hunter2@h/q", "http://h/q", ["bob:hunter2", "hunter2"]),
        ("http://bob:p%40ss@h/q", "http://h/q", ["bob:p%40ss", "bob:p@ss", "p%40ss", "p@ss"]),
        ("https://sometoken@h/q#part", "https://h/q", ["sometoken"]),
        ("http://h/q?k=5&api-key=a%2Fb", f"http://h/q?k=5&api-key={REDACTED}", ["a%2Fb", "a/b"]),
        ("http://h/q?code=abc&zip_code=10115", f"http://h/q?code={REDACTED}&zip_code=10115", ["abc"]),
        ("http://h/q?x=0123456789abcdefghij", f"http://h/q?x={REDACTED}", ["0123456789abcdefghij"]),
        ("http://h/q?key=&sig", "http://h/q?key=&sig", []),
        ("http://h/@bob/q", "http://h/@bob/q", []),
        ("http://[::1]:80/q", "http://[::1]:80/q", []),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str, secrets: list[str]) -> None:
    assert shown_url(url) == shown
    assert url_secrets(url) == secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://bob:pa/ss@h:80/q?token=x", f"http://h:80/q?token={REDACTED}"),
        ("https//bob:hunter2@h", "h"),
        ("http://bob:hunter2@[::1/q", "http://[::1/q"),
        ("bob:hunter2@h/q", "h/q"),
        ("http://bob:hunter2@h:0/", "http://h:0/"),
    ],
)
def test_of_what_is_no_url_all_that_could_be_a_password_is_cut(text: str, shown: str) -> None:
    assert shown_url(text) == shown
