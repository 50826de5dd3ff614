"""What the tables and figures are called, in the report's order."""

TABLE_TITLES = {
    "absolute_position": "Absolute position",
    "order": "Order of two positions",
    "distance": "Distance of two positions",
    "similarity": "Similarity of positions",
    "spectrum": "Spectrum",
    "geometry": "Geometry of similarity",
    "classification": "Text classification",
    "classification_by_length": "Text classification by length",
    "classification_length_matrix": "Text classification: lengths of training and of testing",
    "language_modeling": "Language modelling",
    "language_modeling_by_position": "Language modelling by position",
    "pretraining": "Pretraining",
}

FIGURE_TITLES = {
    "similarity_heatmaps": "Similarity of all pairs of positions",
    "similarity_profile": "Similarity by offset, and breaks",
    "spectrum": "Share of variance by number of components",
    "absolute_position": "Error of reading off a position",
    "order": "Error of telling which position comes first",
    "geometry": "Geometry of similarity",
    "classification": "Accuracy of text classification",
    "classification_by_length": "Accuracy of text classification by length",
    "language_modeling": "Perplexity of language models",
    "language_modeling_skip_ratio": "Perplexity by a changed table, over that by the table as it is",
    "language_modeling_by_position": "Loss of language models by position",
    "pretraining": "Position tables along pretraining",
}
