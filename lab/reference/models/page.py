"""Models: the cards of the trained parts."""

from lab.reference.models.cards import show_cards
from lab.ui.page import open_reference


def play() -> None:
    """Run the page."""
    page = open_reference("Models", "What was each model trained on, and what does it know?")
    show_cards(page)
    page.finish()
