"""Models: the cards of the trained parts, and the changes that training made in the selected model."""

from lab.reference.models import twin
from lab.reference.models.cards import show_cards
from lab.ui.page import open_reference

CARDS = "Cards"
STEPS = {"Two maps": twin.show_maps, "All heads": twin.show_heads, "Predictions": twin.show_predictions}


def play() -> None:
    """Run the page."""
    page = open_reference("Models", "What was each model trained on, and what did training change?")
    names = [CARDS, *STEPS]
    step = page.step(names)
    if step == CARDS:
        show_cards(page)
        page.next_step(names)
        page.finish()
        return
    pair = STEPS[step](page, page.trace())
    page.next_step(names)
    page.finish()
    page.prove(*pair)
