"""What the demo says last."""

from pathlib import Path

from headwater.cli.demo.words import ways_on

URL = "http://127.0.0.1:5003"
FOLDER = Path("/home/ann's/.headwater/demo")


def test_while_the_page_is_served_its_address_is_told() -> None:
    page, *others = ways_on(URL, FOLDER, "lake.t:c", is_served=True)

    assert page == f"the page        {URL}"
    assert others[-1] == f"from the shell  headwater trace lake.t:c --url {URL}"


def test_once_the_service_has_ended_it_is_told_how_to_start_it_there_again() -> None:
    page, *others = ways_on(URL, FOLDER, "lake.t:c", is_served=False)

    home = "'/home/ann'\"'\"'s/.headwater'"
    assert page == f"the page        HEADWATER_HOME={home} headwater serve --port 5003, then {URL}"
    assert others[-1] == f"from the shell  headwater trace lake.t:c --url {URL}, while it is served"
