"""An evaluation as one HTML file: no script, no network; what a model wrote is escaped and can steer nothing."""

from tasks.evaluation.report import tables
from tasks.evaluation.report.paper import PAPER
from tasks.evaluation.report.view import KINDS, EvaluationView
from tasks.report.templating import page_templates


def evaluation_page(view: EvaluationView) -> str:
    """Write the report of one evaluation."""
    return TEMPLATES.get_template("evaluation.html.jinja").render(
        view=view, tables=tables, paper=PAPER, kinds=KINDS, places=_places(view)
    )


def _places(view: EvaluationView) -> dict[str, str]:
    """Return record id -> the anchor of its card; ids are data, and no part of the page's own names."""
    return {record.record_id: f"record-{number}" for number, record in enumerate(view.failed, 1)}


TEMPLATES = page_templates("tasks.evaluation.report")
