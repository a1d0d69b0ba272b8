"""Reference: the cards of the trained parts, and what training changed in the selected model."""

from lab.benches.models import twin as steps
from lab.benches.models.cards import show_cards
from lab.ui.page import open_page

STEPS = {
    "Two maps": steps.show_maps,
    "All heads": steps.show_heads,
    "Predictions": steps.show_predictions,
}

page = open_page("Models", "What was a model trained on, and what did training change?")
names = ["Cards", *STEPS]
step = page.step(names)

if step == "Cards":
    show_cards(page)
    page.next_step(names)
    page.finish()
else:
    trace = page.trace()
    pair = STEPS[step](page, trace)
    page.next_step(names)
    page.finish()
    page.prove(*pair)
