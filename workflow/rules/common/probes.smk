"""Helpers of the probes."""


def studied(by_name):
    """Those tables or figures whose probe is in the study."""
    return [name for name, probe in by_name.items() if probe in CONFIG.study.probes]


def probe_results(probe):
    """The results of one probe on every table of the study, in its order."""
    return [f"results/probes/{probe}/{table}.json" for table in TABLES]


def figure_inputs(wildcards):
    """What a figure draws."""
    if wildcards.figure in DRAWS_POSITION_TABLES:
        return [f"results/position_tables/{table}.safetensors" for table in TABLES]
    return probe_results(PROBE_FIGURES[wildcards.figure])


def probe_code(probe):
    """Digest of the code that computes a probe."""
    return code("probe.py", f"poscope.probes.{probe}")


def probe_targets():
    """Everything that the experiment `probes` yields."""
    return [
        *(
            f"results/tables/{name}.{ext}"
            for name in studied(PROBE_TABLES)
            for ext in ("csv", "md", "tex")
        ),
        *(
            f"results/figures/{name}.{ext}"
            for name in studied(PROBE_FIGURES)
            for ext in ("svg", "png")
        ),
    ]
