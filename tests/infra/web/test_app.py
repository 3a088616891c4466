"""The door of local web applications: who comes in, under which name, with what."""

import jinja2
import pytest
from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient

from infra.web.access import Access
from infra.web.app import create_web_app
from infra.web.guard import READ_ONLY
from infra.web.templating import web_templates

SECRET = "s" * 43


def app_with(access: Access, methods: frozenset[str] = READ_ONLY) -> FastAPI:
    app = create_web_app("a <b> & c", access, web_templates(), methods=methods)

    @app.get("/page")
    async def page() -> str:
        return "seen"

    @app.get("/gone/{name}")
    async def gone(name: str) -> str:
        raise HTTPException(404, f"there is no {name}")

    @app.get("/number/{number}")
    async def number(number: int) -> int:
        return number

    @app.post("/page")
    async def post() -> str:
        return "changed"

    return app


def client_of(app: FastAPI, host: str = "127.0.0.1:8000") -> TestClient:
    return TestClient(app, base_url=f"http://{host}", follow_redirects=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:81", "localhost:9", "[::1]:9", "[::1]", "LOCALHOST"])
def test_on_loopback_our_own_names_are_answered(host: str) -> None:
    assert client_of(app_with(Access(None))).get("/page", headers={"Host": host}).text == '"seen"'


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "localhost.evil"])
def test_on_loopback_another_name_is_refused_as_dns_rebinding_sends_it(host: str) -> None:
    answer = client_of(app_with(Access(None))).get("/page", headers={"Host": host})
    assert answer.status_code == 421
    assert "seen" not in answer.text


def test_without_the_token_nobody_sees_a_page_or_a_file() -> None:
    client = client_of(app_with(Access(SECRET)), "10.0.0.7:8000")
    for path in ("/page", "/static/web.css", "/none", "/page?token=", "/page?token=x", f"/page?token={SECRET}x"):
        assert client.get(path).status_code == 401


def test_the_token_goes_into_a_cookie_and_out_of_the_address() -> None:
    client = client_of(app_with(Access(SECRET)), "10.0.0.7:8000")
    answer = client.get(f"/page?token={SECRET}&q=%26x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/page?q=%26x")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/page").text == '"seen"'


def test_a_welcome_never_leads_to_another_site() -> None:
    assert Access(SECRET).without_token("//evil.example/x", f"token={SECRET}") == "/evil.example/x"


def test_the_cookie_of_another_application_of_this_host_is_not_ours() -> None:
    other = Access("t" * 43)
    client = client_of(app_with(Access(SECRET)), "10.0.0.7")
    client.cookies.set(other.cookie, SECRET)
    assert client.get("/page").status_code == 401
    assert other.cookie != Access(SECRET).cookie


def test_a_broken_cookie_is_no_token() -> None:
    assert not Access(SECRET).shows_token('a="; b=\x00')


def test_only_loopback_goes_without_a_token() -> None:
    assert Access.to("127.0.0.1").token is None
    assert Access.to("localhost").token is None
    assert Access.to("::1").token is None
    for host in ("0.0.0.0", "10.0.0.7", "::", "example.org"):
        assert len(Access.to(host).token or "") >= 43


def test_the_address_to_open_holds_the_token() -> None:
    assert Access(None).address("::1", 80) == "http://[::1]:80/"
    assert Access("a_b-c").address("10.0.0.7", 8000) == "http://10.0.0.7:8000/?token=a_b-c"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_what_is_read_only_takes_no_other_method(method: str) -> None:
    assert client_of(app_with(Access(None))).request(method, "/page").status_code == 405


def test_a_change_is_taken_from_our_own_pages_only() -> None:
    client = client_of(app_with(Access(None), frozenset({"GET", "HEAD", "POST"})), "127.0.0.1:8000")
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9"):
        assert client.post("/page", headers={"Origin": origin}).status_code == 403
    assert client.post("/page", headers={"Origin": "http://127.0.0.1:8000"}).text == '"changed"'


def test_every_answer_forbids_scripts_frames_and_copies() -> None:
    client = client_of(app_with(Access(None)))
    for path, status in (("/page", 200), ("/gone/x", 404), ("/number/x", 422), ("/static/web.css", 200)):
        answer = client.get(path)
        assert answer.status_code == status
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert client.get("/page").headers["cache-control"] == "no-store"


def test_messages_and_names_are_escaped() -> None:
    text = client_of(app_with(Access(None))).get("/gone/<script>alert(1)").text
    assert "there is no &lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "a &lt;b&gt; &amp; c" in text


def test_files_outside_the_folder_are_not_served() -> None:
    client = client_of(app_with(Access(None)))
    for path in ("/static/../access.py", "/static/%2e%2e/access.py", "/static//etc/passwd", "/static/..%2faccess.py"):
        assert client.get(path).status_code == 404


def test_a_template_that_lacks_a_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        web_templates().get_template("error.html.jinja").render(app="x")
