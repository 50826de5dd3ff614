rule report:
    output:
        "results/report.html",
    shell: "touch {output}"
