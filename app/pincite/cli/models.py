"""`pincite models`: install, list, add and choose models."""

from __future__ import annotations

import argparse

from pincite.cli.output import Output
from pincite.engine.install import InstallProgress, add_model, install, models_to_install
from pincite.engine.models import Model, best_answer_model, models_on, read_catalog, use_model
from pincite.errors import ModelError
from pincite.settings import Settings, catalog_file

DONE = 0


def install_models(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite models install`."""
    catalog = read_catalog(catalog_file())
    wanted = models_to_install(catalog, small=options.small)

    def show(progress: InstallProgress) -> None:
        share = progress.done_bytes / max(progress.total_bytes, 1)
        output.progress(f"{progress.step.capitalize()} {progress.model} · {share:.0%} of all")

    installed = install(wanted, settings.models_dir, progress=show)
    _print_models(installed, settings, output)
    return DONE


def list_models(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite models list`."""
    _print_models(models_on(settings.models_dir, read_catalog(catalog_file())), settings, output)
    return DONE


def add_file(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite models add`."""
    model = add_model(options.file, settings.models_dir, read_catalog(catalog_file()))
    _print_models((model,), settings, output)
    return DONE


def use_named(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite models use`."""
    model = use_model(
        options.name, settings.models_dir, read_catalog(catalog_file()), settings.data_dir / "settings.toml"
    )
    if output.as_json:
        output.json({"model": model.name, "use": model.use.value})
    else:
        output.text(f"{model.name} is used for {model.use.value} from now on.")
    return DONE


def _print_models(models: tuple[Model, ...], settings: Settings, output: Output) -> None:
    used = _used(settings)
    if output.as_json:
        output.json({"models": [_model_json(model, model.name in used) for model in models]})
        return
    for model in models:
        mark = "*" if model.name in used else " "
        prose = "" if model.prose or model.use.value != "answers" else ", answers in quotes"
        output.text(
            f"{mark} {model.name:<34} {model.use.value:<10} {model.state.value:<14} "
            f"{model.size_bytes / 1e6:>7,.0f} MB  {model.licence}{prose}"
        )
        if model.problem:
            output.text(f"    {model.problem}")
    output.text("* used now")


def _used(settings: Settings) -> set[str]:
    names = {settings.embedding_model, settings.reranker_model}
    try:
        best = best_answer_model(settings.models_dir, read_catalog(catalog_file()), settings.answer_model)
    except ModelError:
        return names  # the chosen model is gone: `ask` and `doctor` say so
    return names | ({best.name} if best else set())


def _model_json(model: Model, used: bool) -> dict[str, object]:
    return {
        "name": model.name,
        "use": model.use.value,
        "state": model.state.value,
        "used": used,
        "size_bytes": model.size_bytes,
        "memory_mb": model.memory_mb,
        "licence": model.licence,
        "prose": model.prose,
        "path": str(model.path),
        "problem": model.problem,
    }
