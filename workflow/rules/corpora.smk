"""Corpora: running text, numbered once for all language models that read it."""


rule build_corpus:
    input:
        unpack(corpus_files),
    output:
        directory("results/datasets/{corpus}"),
    log:
        "logs/build_corpus/{corpus}.log",
    benchmark:
        "results/benchmarks/build_corpus/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(CONFIG.corpora),
    conda:
        "../../envs/datasets.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        code=code("build_corpus.py"),
        source=lambda wildcards: text_source(CONFIG.corpora[wildcards.corpus].text),
        tokenizer=lambda wildcards: fragment(CONFIG.corpora[wildcards.corpus].tokenizer),
        shares=lambda wildcards: corpus_shares(CONFIG.corpora[wildcards.corpus]),
        origin=corpus_origin,
    message:
        "Cutting and numbering the text of {wildcards.corpus}{params.origin}"
    script:
        "../scripts/build_corpus.py"
