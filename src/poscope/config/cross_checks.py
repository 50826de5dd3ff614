"""Faults between the sections of a config."""

from collections.abc import Iterable, Iterator

from poscope.config.classification import Buckets
from poscope.config.faults import unknown


def cross_checks(raw: dict[str, object]) -> Iterator[str]:
    """Faults between sections, found on the raw config so that they show beside the faults within sections."""
    models, study = _section(raw, "models"), raw.get("study")
    if not isinstance(study, dict):
        return
    for key in ("experiments", "models", "probes"):
        yield from _repeated(f"study.{key}", study.get(key))
    names = _names(study.get("models"))
    yield from _unknown_names("study.models", names, models)
    tables = _tables(models, names)
    for table in sorted({table for table in tables if tables.count(table) > 1}):
        yield f"study.models: two of them yield a table named {table!r}; rename one"
    reference = study.get("reference")
    if isinstance(reference, str) and reference not in tables:
        yield unknown("study.reference", reference, tables)
    yield from _encoding_checks(raw, _tables(models, list(models)))
    yield from _corpus_checks(raw)
    yield from _classification_checks(raw, study)
    yield from _language_modeling_checks(raw, study)
    yield from _translation_checks(raw, study)
    yield from _composition_checks(raw, study)
    yield from _pretraining_checks(raw, study)
    yield from _initialization_checks(raw, study)


def _encoding_checks(raw: dict[str, object], tables: list[str]) -> Iterator[str]:
    for name, encoding in _section(raw, "encodings").items():
        table = encoding.get("table") if isinstance(encoding, dict) else None
        if isinstance(table, str) and table not in tables:
            yield unknown(f"encodings.{name}.table", table, tables)


def _classification_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("classification")
    if not isinstance(chosen, dict):
        yield from _missing(study, "classification", "tasks and encodings")
        return
    here = "study.classification"
    yield from _repeated(f"{here}.buckets", chosen.get("buckets"))
    yield from _cell_checks(raw, chosen, "classification", here)
    tasks = [_section(raw, "tasks").get(name) for name in _names(chosen.get("tasks"))]
    # A task whose name is wrong may have the buckets that the others lack.
    if all(isinstance(task, dict) for task in tasks):
        buckets = {"all"}.union(*(_bucket_names(task) for task in tasks if isinstance(task, dict)))
        yield from _unknown_names(f"{here}.buckets", chosen.get("buckets"), buckets)
    reference = chosen.get("reference", "random")
    if isinstance(reference, str) and reference not in _names(chosen.get("encodings")):
        yield unknown(f"{here}.reference", reference, _names(chosen.get("encodings")))


def _corpus_checks(raw: dict[str, object]) -> Iterator[str]:
    """That language models read a corpus which there is, and masked ones a tokenizer that can mask."""
    corpora = _section(raw, "corpora")
    for catalogue in ("models", "tasks"):
        for name, reader in _section(raw, catalogue).items():
            if not isinstance(reader, dict) or not isinstance(reader.get("corpus"), str):
                continue
            corpus = corpora.get(str(reader["corpus"]))
            if corpus is None:
                yield unknown(f"{catalogue}.{name}.corpus", reader["corpus"], corpora)
            elif reader.get("objective") == "mlm" and _is_unmasked(corpus):
                yield (
                    f"{catalogue}.{name}.corpus: the tokenizer of {reader['corpus']!r} has no mask token, which the "
                    f"objective mlm needs; set corpora.{reader['corpus']}.tokenizer.masked, or take WordPiece"
                )
    for name in sorted(set(corpora) & set(_section(raw, "tasks"))):
        yield f"corpora.{name}: a task has that name too, and both would write results/datasets/{name}; rename one"


def _is_unmasked(corpus: object) -> bool:
    tokenizer = corpus.get("tokenizer") if isinstance(corpus, dict) else None
    if not isinstance(tokenizer, dict):
        return False
    return tokenizer.get("kind") == "bpe" and not tokenizer.get("masked")


def _language_modeling_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("language_modeling")
    if not isinstance(chosen, dict):
        yield from _missing(study, "language_modeling", "tasks and encodings")
        return
    here = "study.language_modeling"
    yield from _cell_checks(raw, chosen, "language_modeling", here)
    yield from _reference_checks(chosen, here)
    # An overlay cannot take keys out: names of tasks that are not in the study do no harm.
    for name in _section(chosen, "task_seeds"):
        if name not in _section(raw, "tasks"):
            yield unknown(f"{here}.task_seeds", name, _section(raw, "tasks"))


def _translation_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("translation")
    if not isinstance(chosen, dict):
        yield from _missing(study, "translation", "tasks and pairs")
        return
    here = "study.translation"
    yield from _task_checks(raw, chosen, "translation", here)
    yield from _repeated(f"{here}.pairs", chosen.get("pairs"))
    pairs = _names(chosen.get("pairs"))
    encodings = _section(raw, "encodings")
    for index, pair in enumerate(pairs):
        for name in pair.split("--") if pair.count("--") == 1 else []:
            if name not in encodings:
                yield unknown(f"{here}.pairs[{index}]", name, encodings)
    reference = chosen.get("reference")
    if isinstance(reference, str) and reference not in pairs:
        yield unknown(f"{here}.reference", reference, pairs)


def _composition_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("composition")
    if not isinstance(chosen, dict):
        yield from _missing(study, "composition", "models")
        return
    here = "study.composition"
    yield from _repeated(f"{here}.models", chosen.get("models"))
    yield from _unknown_names(f"{here}.models", chosen.get("models"), _section(raw, "models"))
    for experiment in ("classification", "language_modeling"):
        compared = chosen.get(experiment)
        if isinstance(compared, dict):
            yield from _cell_checks(raw, compared, experiment, f"{here}.{experiment}")
            yield from _reference_checks(compared, f"{here}.{experiment}")


def _initialization_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("initialization")
    families = chosen if isinstance(chosen, dict) else {}
    if not any(isinstance(section, dict) for section in families.values()):
        yield from _missing(study, "initialization", "tasks and encodings by family")
        return
    for family, section in families.items():
        if isinstance(section, dict):
            here = f"study.initialization.{family}"
            yield from _cell_checks(raw, section, "initialization", here)
            yield from _reference_checks(section, here)


def _pretraining_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("pretraining")
    if not isinstance(chosen, dict):
        yield from _missing(study, "pretraining", "models")
        return
    here = "study.pretraining"
    names = _names(chosen.get("models"))
    yield from _repeated(f"{here}.models", chosen.get("models"))
    models = _section(raw, "models")
    own = [name for name, model in models.items() if _value(model, "source") == "pretrain"]
    yield from _unknown_names(f"{here}.models", names, own)
    reference = chosen.get("reference")
    if isinstance(reference, str) and reference not in names:
        yield unknown(f"{here}.reference", reference, names)


def _missing(study: dict[str, object], experiment: str, needs: str) -> Iterator[str]:
    experiments = study.get("experiments")
    if isinstance(experiments, list) and experiment in experiments:
        yield f"study.{experiment}: missing; the experiment needs its {needs}"


def _cell_checks(
    raw: dict[str, object], chosen: dict[str, object], experiment: str, here: str
) -> Iterator[str]:
    """That the tasks of a section are there and of its experiment, and its encodings are there; each once."""
    yield from _task_checks(raw, chosen, experiment, here)
    yield from _repeated(f"{here}.encodings", chosen.get("encodings"))
    yield from _unknown_names(
        f"{here}.encodings", chosen.get("encodings"), _section(raw, "encodings")
    )


def _reference_checks(chosen: dict[str, object], here: str) -> Iterator[str]:
    reference = chosen.get("reference")
    if isinstance(reference, str) and reference not in _names(chosen.get("encodings")):
        yield unknown(f"{here}.reference", reference, _names(chosen.get("encodings")))


def _task_checks(
    raw: dict[str, object], chosen: dict[str, object], experiment: str, here: str
) -> Iterator[str]:
    """That the tasks of a section are there and of its experiment, each once."""
    yield from _repeated(f"{here}.tasks", chosen.get("tasks"))
    yield from _unknown_names(f"{here}.tasks", chosen.get("tasks"), _section(raw, "tasks"))
    tasks = _section(raw, "tasks")
    for index, name in enumerate(_names(chosen.get("tasks"))):
        other = _value(tasks.get(name), "experiment")
        if isinstance(other, str) and other != experiment:
            yield f"{here}.tasks[{index}]: {name!r} is a task of the experiment {other!r}"


def _value(section: object, key: str) -> object:
    return section.get(key) if isinstance(section, dict) else None


def _bucket_names(task: dict[str, object]) -> list[str]:
    buckets = task.get("buckets")
    names = buckets.get("names") if isinstance(buckets, dict) else None
    return _names(names) if names is not None else Buckets().names


def _section(raw: dict[str, object], key: str) -> dict[str, object]:
    section = raw.get(key)
    return section if isinstance(section, dict) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _unknown_names(path: str, names: object, allowed: Iterable[str]) -> Iterator[str]:
    for index, name in enumerate(_names(names)):
        if name not in allowed:
            yield unknown(f"{path}[{index}]", name, allowed)


def _repeated(path: str, names: object) -> Iterator[str]:
    if isinstance(names, list):
        for name in sorted({str(name) for name in names if names.count(name) > 1}):
            yield f"{path}: {name!r} stands there {names.count(name)} times; once is enough"


def _tables(models: dict[str, object], names: list[str]) -> list[str]:
    tables = []
    for name in names:
        spec = models.get(name)
        sides = spec.get("sides") if isinstance(spec, dict) else None
        tables.extend(
            [f"{name}_{side}" for side in sides] if isinstance(sides, list) and sides else [name]
        )
    return tables
