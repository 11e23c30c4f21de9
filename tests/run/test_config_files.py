"""Configurations as files: a run's own is a record, another's a beginning; and the names of runs."""

import re
import tomllib
from pathlib import Path

import pytest
from searches import PROBLEM

from evopinn.errors import RunError, SearchError, UnknownNameError
from evopinn.genome import MutationRates, Space
from evopinn.run import naming
from evopinn.run.config import SMALL, Config, check_config_unchanged, read_config


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def recorded():
    return Config.of({"problem": "heat", "preset": "quick"}).spelled_out().toml()


def test_a_run_goes_on_if_its_file_says_the_same(recorded):
    run = Path("run")
    run.mkdir()
    check_config_unchanged(run, recorded)  # there is no file
    for text in (recorded, f"# mine\n\n{recorded}"):
        (run / "config.toml").write_text(text)
        check_config_unchanged(run, recorded)


@pytest.mark.parametrize(("old", "new"), [("seed = 0", "seed = 1"), ("seed = 0", ""), ("seed = 0", "seed =")])
def test_a_file_that_was_changed_is_told(recorded, old, new):
    run = Path("my run")
    run.mkdir()
    assert recorded.count(old) == 1
    (run / "config.toml").write_text(recorded.replace(old, new))
    with pytest.raises(RunError, match=r"^my run/config\.toml ") as refused:
        check_config_unchanged(run, recorded)
    assert "`evopinn search --config 'my run/config.toml'`." in str(refused.value)


def test_the_file_says_that_it_is_a_record(recorded):
    assert re.match("(#.*\n)*#.* record", recorded)


def test_a_part_that_is_set_leaves_the_other_parts_of_a_file_alone(run):
    Path("mine.toml").write_text("[settings]\nelitists = 0.5\nmutation = {layers = 0.9, neurons = 0.8}\n")
    command = ("search", PROBLEM, "--config", "mine.toml", "--print-config", "--set", "mutation.neurons=0.1")
    code, out, _ = run(*command)
    settings = tomllib.loads(out)["settings"]
    assert code == 0
    assert settings["elitists"] == 0.5
    expected = MutationRates(layers=0.9, neurons=0.1)
    assert settings["mutation"] == {
        name: getattr(expected, name) for name in ("layers", "neurons", "shortcuts", "activation")
    }


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["mean=arithmetic"], {"mean": "arithmetic"}),  # as the documentation has it
        (["mean = geometric "], {"mean": "geometric"}),
        (['mean="arithmetic"', "skip_known=true"], {"mean": "arithmetic", "skip_known": True}),
        (["elitists=0.5", "coarsening=2"], {"elitists": 0.5, "coarsening": 2}),
    ],
)
def test_a_word_that_is_set_needs_no_quotes(run, words, settings):
    code, out, err = run("search", PROBLEM, "--print-config", *(f"--set={word}" for word in words))
    assert code == 0, err
    assert settings.items() <= tomllib.loads(out)["settings"].items()


@pytest.mark.parametrize(
    ("arguments", "plan"),
    [
        (["--budget", "3000 epochs"], r"evo-dpste: \d+ generations .* epochs"),
        (["--budget", "90 trainings", "--method", "bo-fcnet"], "bo-fcnet: 78 proposals, .* 90 trainings"),
        (["--preset", "quick"], "evo-dpste: 4 generations .*64, 20, 12, 6 .*16, "),
        (["--populations", "6", "--epochs", "9"], "evo-dpste: 1 generation of 6 .*nothing evolves"),
    ],
)
def test_a_configuration_is_printed_with_its_plan(run, arguments, plan):
    code, out, err = run("search", PROBLEM, *arguments, "--print-config")
    assert code == 0
    assert tomllib.loads(out)["problem"] == PROBLEM
    assert re.match(plan, err)
    assert err.count("\n") == 1
    assert run("search", PROBLEM, *arguments, "--print-config", "--quiet") == (0, out, "")


def test_a_plan_that_needs_a_measurement_is_not_printed(run):
    assert run("search", PROBLEM, "--print-config", "--budget", "5m")[2] == ""
    code, out, err = run("search", PROBLEM, "--print-config", "--budget", "9 epochs")
    assert (code, out) == (2, "")
    assert re.search(r"\bbudget .*\b9 epochs\b.*\b20 epochs\b", err)


@pytest.mark.parametrize(
    ("name", "path"),
    [("mine", "runs/mine"), ("./mine", "mine"), ("a/mine", "a/mine"), ("/a", "/a"), (".", "."), ("..", "..")],
)
def test_a_plain_name_lies_among_the_runs_and_anything_else_is_a_path(name, path):
    assert naming.run_path(name) == Path(path)


def test_runs_that_begin_in_the_same_second_have_different_names(monkeypatch):
    digits = iter(["0a1b", "0a1b", "2c3d"])
    monkeypatch.setattr(naming.time, "strftime", lambda _: "20260504-103100")
    monkeypatch.setattr(naming.secrets, "token_hex", lambda _: next(digits))
    first = naming.dated_name("heat")
    assert first == "heat-20260504-103100-0a1b"
    naming.run_path(first).mkdir(parents=True)
    assert naming.dated_name("heat") == "heat-20260504-103100-2c3d"


@pytest.mark.parametrize(
    ("asked", "optimizer", "space"),
    [
        ({}, "lm", SMALL),
        ({"preset": "quick"}, "lm", SMALL),
        ({"preset": "paper"}, "lbfgs", Space()),
        ({"preset": "paper:lame"}, "lbfgs", Space()),
        ({"training": {"optimizer": "lbfgs"}}, "lbfgs", Space()),
        ({"training": {"optimizer": "adam:50+lm"}}, "adam:50+lm", SMALL),
        ({"space": "neurons=30-40:2"}, "lm", Space(neurons=(30, 40, 2))),
        ({"preset": "paper", "training": {"optimizer": "lm"}}, "lm", SMALL),
    ],
)
def test_how_genomes_are_trained_and_where_they_lie_if_nobody_says(asked, optimizer, space):
    spelled_out = Config.of({"problem": "klein-gordon", **asked}).spelled_out()
    assert spelled_out.training.optimizer == optimizer
    assert Space.parse(spelled_out.space) == space
    assert spelled_out.spelled_out() == spelled_out


@pytest.mark.parametrize(
    ("asked", "mean"),
    [
        ({}, "geometric"),
        ({"method": "bo-fcnet"}, "geometric"),
        ({"training": {"optimizer": "adam:50+lm"}}, "geometric"),
        ({"settings": {"mean": "arithmetic"}}, "arithmetic"),
        ({"training": {"optimizer": "lbfgs"}}, "arithmetic"),
        ({"training": {"optimizer": "lbfgs"}, "settings": {"mean": "geometric"}}, "geometric"),
        ({"preset": "paper"}, "arithmetic"),
        ({"preset": "paper", "training": {"optimizer": "lm"}}, "arithmetic"),
        ({"preset": "paper:lame"}, "arithmetic"),
    ],
)
def test_which_mean_decides_if_nobody_says(asked, mean):
    config = Config.of({"problem": "klein-gordon"} | asked)
    assert config.method_settings().mean == mean
    assert config.spelled_out().settings["mean"] == mean


def test_a_run_from_before_there_was_a_choice_of_means_goes_on_with_the_arithmetic_one():
    config = Config.of({"problem": "heat", "recorded": {"fingerprint": 1.0, "request": "1713aad47cba11a6"}})
    assert config.method_settings().mean == "arithmetic"


def test_what_was_asked_before_there_was_a_choice_of_means_is_still_the_same_request():
    def digest(**asked):
        return naming.request_digest(Config.of({"problem": "heat"} | asked), 1.0)

    lbfgs = {"training": {"optimizer": "lbfgs"}}
    assert (digest(), digest(**lbfgs)) == ("1713aad47cba11a6", "9416d2ffde236e54")
    assert digest(settings={"mean": "geometric"}) == digest()
    assert digest(**lbfgs, settings={"mean": "arithmetic"}) == digest(**lbfgs)
    assert digest(settings={"mean": "arithmetic"}) != digest()
    assert digest(**lbfgs, settings={"mean": "geometric"}) != digest(**lbfgs)
    assert digest(settings={"mutation": {"start": 0.3}}) == digest()
    assert digest(settings={"mutation": {"start": 0.4}}) != digest()


def test_a_preset_of_the_paper_has_the_start_of_the_paper_only():
    preset = {"problem": "klein-gordon", "preset": "paper", "space": "starts=paper,unit"}
    with pytest.raises(SearchError, match=r"starts=paper,unit.*preset paper"):
        Config.of(preset)
    assert Config.of(preset | {"space": "layers=3-5"}).search_space().starts == ("paper",)
    quick = Config.of(preset | {"preset": "quick"}).spelled_out()
    assert quick.search_space().starts == ("paper", "unit")
    assert "starts=paper,unit" in quick.space
    assert quick.settings["mutation"]["start"] == MutationRates.start


def test_a_preset_of_the_paper_is_another_request_than_its_numbers_where_another_mean_decides():
    lm = {"problem": "heat", "training": {"optimizer": "lm"}}
    preset = Config.of(lm | {"preset": "paper:klein-gordon"})
    schedule = preset.spelled_out().schedule
    by_hand = Config.of(lm | {"schedule": schedule, "space": preset.search_space().text})
    arithmetic = by_hand.model_copy(update={"settings": {"mean": "arithmetic"}})
    assert naming.request_digest(preset, 1.0) == naming.request_digest(arithmetic, 1.0)
    assert naming.request_digest(preset, 1.0) != naming.request_digest(by_hand, 1.0)


def test_the_record_of_a_run_from_before_does_the_same_again():
    record = '[recorded]\nfingerprint = 1.0\nrequest = "1713aad47cba11a6"\n'
    Path("before.toml").write_text(f'problem = "heat"\n{record}')
    Path("since.toml").write_text(f'problem = "heat"\n{record}[settings]\nmean = "geometric"\n')
    Path("mine.toml").write_text('problem = "heat"\n')
    read = [read_config(Path(f"{name}.toml")) for name in ("before", "since", "mine")]
    means = [Config.of(values).method_settings().mean for values in read]
    assert means == ["arithmetic", "geometric", "geometric"]


def test_an_unknown_optimizer_is_refused_at_once():
    with pytest.raises(UnknownNameError, match=r"optimizer .*'newton'"):
        Config.of({"problem": "klein-gordon", "training": {"optimizer": "newton"}})
