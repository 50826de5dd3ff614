"""Tasks: one data set with one objective and protocol each."""

from typing import Annotated

from pydantic import Field

from poscope.config.classification import ClassificationTask
from poscope.config.initialization import InitializationTask
from poscope.config.language_modeling import LanguageModelingTask
from poscope.config.translation import TranslationTask

AnyTask = Annotated[
    ClassificationTask | LanguageModelingTask | TranslationTask | InitializationTask,
    Field(discriminator="experiment"),
]
