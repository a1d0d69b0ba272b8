"""Sentences that are worth a look, each with a reason: the menu's, the first page's, Linzen's et al. (2016)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One or two sentences, and the thing to look for in them.

    ``why`` is true of every model: it says where to look. ``about`` is the word of ``text`` whose row of attention
    shows this, if there is one.
    """

    name: str
    text: str
    why: str
    pair: str = ""
    about: str = ""


EXAMPLES = (
    Example(
        "A capital", "The capital of France is [MASK].",
        "From the blank, which word does a head look at? What does the model say without this word?",
        about="[MASK]",
    ),
    Example(
        "A pronoun", "She gave her brother the book that he wanted.",
        "*He* is her brother. Does a head look from *he* at *brother*?",
        about="he",
    ),
    Example(
        "A pronoun with two candidates", "The cat sat on the mat because it was tired.",
        "*It* may be the cat or the mat. Only *tired* tells you. Does a head look from *it* at *cat*?",
        about="it",
    ),
    Example(
        "Agreement", "The boys [MASK] playing in the garden.",
        "The verb must fit *boys*. Change *boys* to *boy*, and see which word fills the blank.",
    ),
    Example(
        "Agreement across a phrase", "The keys to the cabinet [MASK] on the table.",
        "The verb must fit *keys*, but *cabinet* is nearer. Does the model fall for the nearer noun?",
        about="[MASK]",
    ),
    Example(
        "Two meanings of bank", "She sat on the bank of the river and counted her money for the bank.",
        "One token occurs twice, with two meanings. At first, its two vectors differ only by their places. How far do "
        "the layers move the two vectors apart?",
    ),
    Example(
        "Two meanings of bat", "The bat flew out of the cave while he held a wooden bat.",
        "*Flew* and *wooden* say which bat is meant. Compare the vectors of the two tokens after each layer.",
    ),
    Example(
        "Negation", "A robin is not a [MASK].",
        "One little word reverses the meaning. Take *not* away. Does the model then say another word?",
    ),
    Example(
        "A name", "Marie Curie was born in Warsaw and worked in Paris.",
        "Names are often rare. Into how many pieces does the model cut each name?",
    ),
    Example(
        "A garden path", "The old man the boat.",
        "*Man* is the verb here: old people man the boat. Most readers take it for a noun at first, and so do taggers.",
    ),
    Example(
        "An idiom", "He kicked the bucket after a long illness.",
        "Nobody kicks a bucket here. Do the vectors of *kicked* and *bucket* show this?",
    ),
    Example(
        "A rare word", "The unhappily overworked photographers rebuilt everything.",
        "The model cuts long words into pieces. Which heads look from one piece at another?",
    ),
    Example(
        "Repeated words", "Whatever you do, do it well, and whatever you say, say it once.",
        "Many words occur twice. Is there a head that looks for the same word elsewhere?",
    ),
    Example(
        "A relative clause", "The dog that the children chased barked at the postman.",
        "The subject of *barked* is five words before it. Which head finds it, past *the children chased*?",
        about="barked",
    ),
    Example(
        "A hidden word", "He opened the door with his [MASK].",
        "Several words fit. How does the model divide the probability among them?",
    ),
    Example(
        "A pair that follows", "The children went to the park.",
        "*They* in the second sentence means *the children* in the first. Which head looks from one sentence into the "
        "other?",
        "They played until it was dark.",
    ),
    Example(
        "A pair that does not follow", "The children went to the park.",
        "The second sentence has nothing to do with the first. Compare it with “A pair that follows”.",
        "The price of oil fell again.",
    ),
    Example(
        "Three sentences", "The fox saw the grapes. They hung high on the wall. So it walked away.",
        "*They* means the grapes, and *it* means the fox: two words point into an earlier sentence.",
    ),
    Example(
        "A pair of one form", "The rabbit quickly hopped.",
        "Both sentences have the same form: an animal, an adverb, and a verb. Which heads stay inside a sentence, and "
        "which look from *rabbit* at *hopped*?",
        "The turtle slowly crawled.",
    ),
    Example(
        "A nearer noun", "The dog from down the street ran up to me and [MASK].",
        "*Ran* belongs to *dog*, five words before it, but *street* is right before it. From *ran*, does a head look "
        "at *dog* or at *street*?",
    ),
    Example(
        "Every letter", "The quick brown fox jumps over the lazy dog.",
        "This sentence has every letter of the alphabet, and two nouns. Which heads look from *fox* at *brown*, and "
        "from *dog* at *lazy*?",
    ),
)  # fmt: skip


_NAMED = {each.name: each for each in EXAMPLES}


def example_named(name: str) -> Example:
    """The example with this name. Raises KeyError for any other name."""
    return _NAMED[name]


def example_of(text: str, pair: str) -> Example | None:
    """The example with these texts, or None."""
    return next((each for each in EXAMPLES if (each.text, each.pair) == (text, pair)), None)


# Texts, each with its continuation; in the opposite order, the two would make no sense.
FOLLOWING = (
    ("The children went to the park.", "They played there until it was dark."),
    ("He put the kettle on the stove.", "When the water boiled, he made tea."),
    ("The ship left the harbour at night.", "By morning it was far out at sea."),
    ("She planted the seeds in spring.", "By summer the garden was full of flowers."),
    ("The king fell ill.", "A week later he died."),
    ("He lost his key.", "So he had to climb in through the window."),
    ("The teacher asked a question.", "Nobody in the class knew the answer."),
    ("It rained all night.", "In the morning the streets were wet."),
    ("The thief ran into the street.", "Two policemen followed him."),
    ("She opened the letter.", "It was from her sister in Paris."),
    ("The train was late.", "So they waited on the platform for an hour."),
    ("He asked the farmer for work.", "The farmer sent him to the barn."),
)


# The blank in a text, written as a line, as a learner would type it.
BLANK = "_"


@dataclass(frozen=True)
class First:
    """A sentence with one :data:`BLANK`.

    Attributes
    ----------
    text
        The sentence.
    offered
        Four words to guess from: the likely word, and three words that are wrong or unlikely, each in its own way.
    cut
        The word to cut off from the blank.
    """

    text: str
    offered: tuple[str, str, str, str]
    cut: str

    @property
    def short(self) -> str:
        """The beginning of the sentence, as the label of a button."""
        return f"{' '.join(self.text.split()[:3])} …"


# In one sentence either way is enough: without the direct way from "dogs" to the blank, or without the ways around, the
# word stays the best one; without both it does not.
FIRST = (
    First(f"The capital of France is {BLANK}.", ("london", "paris", "french", "big"), "France"),
    First(f"The teacher told the students that {BLANK} had passed the exam.", ("he", "they", "she", "it"), "students"),
    First(f"The dogs that chased the cat {BLANK} tired.", ("was", "were", "is", "got"), "dogs"),
    First(f"The bird built its {BLANK} in a tree.", ("house", "nest", "egg", "song"), "bird"),
    First(f"She opened the {BLANK} and walked in.", ("book", "window", "door", "shop"), "opened"),
)


# The form that grammar requires after a plural subject, and the form that would fit the nearer noun.
FORMS = ("were", "was")


@dataclass(frozen=True)
class Attraction:
    """A sentence with ``_`` in place of its verb.

    Attributes
    ----------
    text
        The sentence.
    subject, nearer
        The plural subject, and the singular noun between it and the verb.
    """

    text: str
    subject: str
    nearer: str

    @property
    def name(self) -> str:
        """The two nouns, which identify the sentence."""
        return f"{self.subject} … {self.nearer}"

    def filled(self, form: str) -> str:
        """The sentence with a form of the verb."""
        return self.text.replace("_", form)


# All sentences were written down before any model read them, and none was left out afterwards.
ATTRACTIONS = (
    Attraction("The keys to the cabinet _ on the table.", "keys", "cabinet"),
    Attraction("The dogs that chased the cat _ tired.", "dogs", "cat"),
    Attraction("The boys near the tree _ playing.", "boys", "tree"),
    Attraction("The books on the shelf _ old.", "books", "shelf"),
    Attraction("The teachers behind the child _ tall.", "teachers", "child"),
    Attraction("The pictures of the house _ beautiful.", "pictures", "house"),
)
