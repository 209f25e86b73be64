"""The questionnaire in a real Chromium: the same law as in Python, exactly, and reports that can be read back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from scipy.stats import chisquare

from core.base.errors import BadFile, BadParameter
from core.local.kinds import KINDS, randomiser_from
from core.local.kit import questionnaire as kit
from core.local.plan import CollectPlan
from core.local.question import LocalQuestion
from core.local.reports import read_reports
from core.schema.domain import Booleans, Categories, Domain, Integers
from tests.dashboard.server import FLAGS

DOMAIN = Domain(
    (
        Booleans(name="smokes", note="cigarettes </script><b>only</b>"),
        Categories(name="town", values=("north", "east", "south", "west", "centre")),
        Integers(name="age", low=18, high=79),
    )
)
QUESTIONS = (
    LocalQuestion(columns=("smokes",), randomiser="k-ary"),
    LocalQuestion(columns=("town",), randomiser="subset", weight=2),
    LocalQuestion(columns=("age",), randomiser="square-wave", smooth=True, weight=3),
    LocalQuestion(columns=("smokes", "town"), randomiser="hadamard"),
)
EVERY_DRAW = """
law => code => {
  const found = [];
  let numbers = [];
  for (;;) {
    const bounds = [];
    const report = draw(law, code, bound => { bounds.push(bound); return numbers[bounds.length - 1] ?? 0; });
    found.push([report, bounds]);
    numbers = numbers.slice(0, bounds.length);
    while (numbers.length < bounds.length) numbers.push(0);
    while (numbers.length && numbers[numbers.length - 1] === bounds[numbers.length - 1] - 1) numbers.pop();
    if (!numbers.length) return found;
    numbers[numbers.length - 1] += 1;
  }
}
"""


def plan(asked: str = "one") -> CollectPlan:
    return CollectPlan(
        domain=DOMAIN,
        epsilon=Fraction(1),
        people=1_000,
        questions=QUESTIONS,
        title="Health & <i>habits</i>",
        asked=asked,
    )


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield launched
        launched.close()


def opened(browser: Browser, folder: Path, asked: str = "one") -> Page:
    path = folder / "questionnaire.html"
    path.write_text(kit.questionnaire(plan(asked)), encoding="utf-8")
    page = browser.new_page()
    page.asked_for = []  # type: ignore[attr-defined]
    page.on("request", lambda request: page.asked_for.append(request.url))  # type: ignore[attr-defined]
    page.goto(path.as_uri())
    return page


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", KINDS)
def test_the_browser_draws_the_same_law_exactly(browser: Browser, tmp_path: Path, name: str) -> None:
    """Every sequence of draws, with its probability: not one chance differs from the law in Python."""
    page = opened(browser, tmp_path)
    for values, ratio in ((2, Fraction(2)), (3, Fraction(5, 2)), (5, Fraction(2))):
        if name == "unary" and values == 5:
            continue
        randomiser = randomiser_from(name, values, ratio)
        for code in range(values):
            law: dict[int, Fraction] = defaultdict(Fraction)
            every = page.evaluate(f"([law, code]) => ({EVERY_DRAW})(law)(code)", [randomiser.recipe(), code])
            for text, bounds in every:
                place = int(randomiser.place(randomiser.gather([randomiser.read(text)]))[0])
                law[place] += Fraction(1, int(np.prod([int(bound) for bound in bounds], dtype=object)))
            exact = randomiser.law()[code]
            assert [law.get(place, Fraction(0)) for place in range(len(exact))] == list(exact)


def surprise(page: Page, told: dict, law: list[float], draws: int) -> float:
    """The p-value of so many draws in the browser under a law."""
    counts = page.evaluate(
        "([law, draws]) => { const found = {}; for (let i = 0; i < draws; i++) { const r = draw(law, 1);"
        " found[r] = (found[r] ?? 0) + 1; } return found; }",
        [told, draws],
    )
    seen = [counts.get(str(place), 0) for place in range(len(law))]
    return float(chisquare(seen, draws * np.array(law)).pvalue)


@pytest.mark.slow
@pytest.mark.browser
def test_its_generator_is_fair_and_a_wrong_probability_is_rejected(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    right = randomiser_from("k-ary", 4, plan().ratio)
    law = [float(chance) for chance in right.law()[1]]
    assert surprise(page, right.recipe(), law, 200_000) > 1e-6
    wrong = right.recipe() | {"a": int(right.ratio.numerator * 1.05)}
    assert surprise(page, wrong, law, 200_000) < 1e-6
    # Bounds that do not divide a power of two, and the largest that is allowed.
    tens = page.evaluate(
        "() => { const found = Array(10).fill(0); for (let i = 0; i < 1e5; i++) found[below(10)]++; return found; }"
    )
    assert chisquare(tens).pvalue > 1e-6
    high = page.evaluate(
        "() => { let found = 0; for (let i = 0; i < 1e4; i++) found += below(2 ** 53 - 1) > 2 ** 52; return found; }"
    )
    assert 4_600 < high < 5_400


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("asked", ["one", "all"])
def test_a_respondent_is_asked_and_gets_a_line_that_counts(browser: Browser, tmp_path: Path, asked: str) -> None:
    lines = []
    for _ in range(4 if asked == "one" else 1):
        page = opened(browser, tmp_path, asked)
        assert page.locator("h1").text_content() == "Health & <i>habits</i>"
        page.get_by_role("button", name="Randomise my answer").click()
        assert not page.locator("#result").is_visible()
        for field in page.locator("select").all():
            field.select_option(index=1)
        page.get_by_role("button", name="Randomise my answer").click()
        assert page.locator("#result").is_visible()
        assert not page.locator("#form").is_visible(), "a second draw would tell more than was promised"
        assert page.locator("#told p").count() == (1 if asked == "one" else 4)
        lines.append(page.locator("#line").input_value())
        assert page.asked_for == [(tmp_path / "questionnaire.html").as_uri()], "nothing is fetched or sent"
        page.close()
    read = read_reports(plan(asked), "\n".join(lines))
    assert (read.people, read.malformed) == (len(lines), 0)


def test_the_file_needs_nothing_else() -> None:
    text = kit.questionnaire(plan())
    assert "http://" not in text and "https://" not in text and " src=" not in text and "@import" not in text
    assert text.count("</script>") == 2, "words of a schema cannot end the program"
    assert plan().id in text
    big = Domain((Integers(name="number", low=0, high=200_000),))
    asked = (LocalQuestion(columns=("number",), randomiser="hashing"),)
    with pytest.raises(BadParameter):
        kit.questionnaire(CollectPlan(domain=big, epsilon=Fraction(1), people=9, questions=asked))
    assert kit.plan_in(text) == kit.plan_in(plan().to_json()) == plan()
    for broken in (text.replace('\\"title\\"', '\\"headline\\"'), text.replace("cigarettes", "pipes"), "{}", "<html>"):
        with pytest.raises(BadFile):
            kit.plan_in(broken)


def test_every_randomiser_is_explained() -> None:
    for name in KINDS:
        said = kit.in_words(LocalQuestion(columns=("age",)), randomiser_from(name, 5, Fraction(3)))
        assert said.endswith(".") and len(said) > 30
