"""Tables, figures and the report: what a person looks at."""
