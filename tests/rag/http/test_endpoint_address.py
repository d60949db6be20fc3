from __future__ import annotations

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.endpoint_address import read_address
from pytest_ragcheck.redaction import shown_url


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("", "the endpoint's URL is empty. Write it in full, such as http://localhost:8000/query."),
        (
            "localhost:8000/query",
            (
                "the endpoint's URL 'localhost:8000/query' has no scheme. "
                "Write http://localhost:8000/query or https://localhost:8000/query."
            ),
        ),
        (
            "/query",
            (
                "the endpoint's URL '/query' has no host. Write it in full, such as http://localhost:8000/query; "
                "a path is enough for an app in this process."
            ),
        ),
        (
            "http:/rag.example/query",
            (
                "the endpoint's URL 'http:/rag.example/query' has no scheme. "
                "Write http://rag.example/query or https://rag.example/query."
            ),
        ),
        (
            "ftp://rag.example/query",
            (
                "the endpoint's URL 'ftp://rag.example/query' has the scheme 'ftp'; only http and https can be asked. "
                "Write http://rag.example/query or https://rag.example/query."
            ),
        ),
        (
            "http:///query",
            "the endpoint's URL 'http:///query' has no host. Write it in full, such as http://localhost:8000/query.",
        ),
        (
            "http://rag.example/que ry\n",
            (
                "the endpoint's URL 'http://rag.example/que ry\\n' has white space or a control character in it. "
                "Write http://rag.example/query or, inside the query string, %20."
            ),
        ),
        (
            "http://[::1/query",
            (
                "the endpoint's URL 'http://[::1/query' has a host that cannot be read. "
                "Write an IPv6 address in brackets: http://[::1]:8000/query."
            ),
        ),
    ],
)
def test_a_url_that_cannot_be_asked_is_refused_with_what_to_write(url, text):
    with pytest.raises(UsageError) as caught:
        RagClient(url)
    assert str(caught.value) == text


@pytest.mark.parametrize("host", ["rag.example:99999", "rag.example:0", "rag.example:port", "a::1:x"])
def test_a_port_that_is_none_is_refused_with_what_to_write(host):
    with pytest.raises(UsageError) as caught:
        RagClient(f"http://{host}/query")
    assert str(caught.value) == (
        f"the endpoint's URL 'http://{host}/query' has a port that is not a number from 1 to 65535. "
        "Write it as in http://localhost:8000/query; an IPv6 address goes in brackets, "
        "and a '/' or '@' in a password as %2F or %40."
    )


def test_a_host_that_the_http_library_refuses_is_refused_at_once():
    with pytest.raises(UsageError) as caught:
        RagClient("http://me:pw-12345@999.1.1.1/query")
    assert str(caught.value) == (
        "the endpoint's URL 'http://999.1.1.1/query' cannot be used: Invalid IPv4 address: '999.1.1.1'."
    )


@pytest.mark.parametrize("host", ["rag..example", "r" * 64, "."])
def test_a_host_name_that_no_resolver_takes_is_refused_at_once(host):
    with pytest.raises(UsageError, match=r"has a host name with an empty part, or one of more than 63 characters"):
        RagClient(f"http://{host}/query")


def test_a_function_given_as_the_url_is_sent_to_from_callable():
    with pytest.raises(UsageError, match=r"as a str, not function\. .* a function goes to RagClient\.from_callable"):
        RagClient(lambda query: {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "url",
    [
        "http://me:pw-12345@rag example/query",
        "me:pw-12345@rag.example/query",
        "ftp://me:pw-12345@rag.example/query",
        "http://me:pw-12345/6@rag.example/query",
        "http://rag.example:x/query?api_key=pw-12345",
    ],
)
def test_a_malformed_url_is_shown_without_its_secrets(url):
    with pytest.raises(UsageError) as caught:
        RagClient(url)
    assert "12345" not in str(caught.value)
    assert "rag" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://rag.example/query", "http://rag.example/query"),
        ("https://me:pw@rag.example:8443/query#part", "https://rag.example:8443/query"),
        ("http://[::1]:8000/query", "http://[::1]:8000/query"),
        ("http://rag.example/q?lang=en&api_key=abc", "http://rag.example/q?lang=en&api_key=[redacted]"),
        ("http://rag.example/q?code=abc&keyword=x", "http://rag.example/q?code=[redacted]&keyword=x"),
        ("http://rag.example/q?X-Amz-Signature=abc", "http://rag.example/q?X-Amz-Signature=[redacted]"),
        ("http://rag.example/q?v=8f4e1c9a7b6d5e3f2a1b0c9d", "http://rag.example/q?v=[redacted]"),
        ("http://rag.example/q?flag&token=", "http://rag.example/q?flag&token="),
    ],
)
def test_the_shown_url_has_no_userinfo_no_fragment_and_no_secret_value(url, shown):
    assert shown_url(url) == shown


def test_values_of_headers_and_url_are_hidden_wherever_a_reply_repeats_them():
    address = read_address(
        "http://me:pw-12345@rag.example/query?token=tok%2F987",
        {"X-Key": "Bearer abc.def", "X-Team": "search-team", "Accept": "application/json"},
        also_secret={"cookie": "session=77777"},
    )
    echoed = (
        "pw-12345 bWU6cHctMTIzNDU tok%2F987 tok/987 Bearer abc.def abc.def search-team session=77777 application/json"
    )
    assert address.redactor.text(echoed).replace("[redacted]", "").split() == ["application/json"]
    assert "12345" not in repr(address)
    assert "987" not in repr(address)
