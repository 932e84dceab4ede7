"""The folder for OptunaHub has the layout that its registry asks for."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import optuna

FOLDER = Path(__file__).parents[2] / "examples" / "optunahub" / "samplers" / "silbo"


def test_loaded_package_provides_working_sampler():
    spec = spec_from_file_location("silbo_of_the_hub", FOLDER / "__init__.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    study = optuna.create_study(sampler=module.SILBOSampler(seed=0, n_startup_trials=2))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=3)
    assert len({trial.params["x"] for trial in study.trials}) == 3


def test_front_matter_and_sections_are_complete():
    _, front, text = (FOLDER / "README.md").read_text().split("---\n", 2)
    keys = {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert {line.split(":")[0] for line in front.splitlines()} == keys
    assert "tags: [sampler, " in front
    sections = {"Abstract", "APIs", "Installation", "Example"}
    assert sections <= set(re.findall(r"^## (.+)$", text, re.M))
