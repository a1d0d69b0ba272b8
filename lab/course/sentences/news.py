"""The tasks of lesson 11: short sentences of the lab with good or bad news, in pairs, and two tasks from the treebanks.

Both sentences of a pair tell of the same thing, so that no topic belongs to one label. Whoever learns from one sentence
of a pair and is tested on the other must not have learned the thing: so a test keeps pairs together.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.analysis.tasks.logistic import LabelledTask
from lab.evidence.labelled import QUESTION, TENSE, shipped

GOOD, BAD = "good news", "bad news"
# Each pair: the sentence with good news, then the one with bad news.
NEWS: tuple[tuple[str, str], ...] = (
    ("Grandmother told us a funny story.", "Grandmother died last winter."),
    ("She got the job that she wanted.", "She did not get the job that she wanted."),
    ("The film was full of joy.", "The film was a complete waste of time."),
    ("Her first book was praised by everyone.", "Her first book was torn apart by the critics."),
    ("The hotel was clean and the staff were kind.", "The hotel was dirty and the staff were rude."),
    ("The children enjoyed every minute of the trip.", "The children were bored and tired."),
    ("She thanked him for the lovely flowers.", "She blamed him for the broken window."),
    ("They won the last game of the year.", "They lost the last game of the year."),
    ("The dog was happy to see its owner.", "The dog bit the boy in the leg."),
    ("He found the ring that he had lost.", "He lost the ring that she had given him."),
    ("He was proud of his daughter.", "He was ashamed of his son."),
    ("The bread was fresh and the coffee excellent.", "The bread was stale and the coffee bitter."),
    ("My brother came home safe.", "My brother never came home."),
    ("The new school is bright and friendly.", "The old school is dark and dirty."),
    ("Our train arrived early and the sun was shining.", "Our train was late and it was raining."),
    ("A stranger helped me to carry the bags.", "A thief stole my bag at the station."),
    ("The rain came in time and saved the harvest.", "The rain came too late and the harvest was lost."),
    ("The operation was a success.", "The operation failed."),
    ("He passed the test with the best mark.", "He failed the test again."),
    ("Everybody laughed and danced until midnight.", "Everybody was silent and afraid."),
    ("The long war was over at last.", "The long war went on and on."),
    ("We finally reached the top and the view was great.", "We got lost in the fog and turned back."),
    ("She forgave him and they became friends.", "She shouted at him and left."),
    ("The doctor said that she would be well again soon.", "The doctor said that nothing more could be done."),
    ("The soup was warm and tasted wonderful.", "The soup was cold and tasted awful."),
    ("He received a prize for his work.", "He was fired after ten years."),
    ("The baby smiled for the first time.", "The baby cried all night."),
    ("They celebrated the birth of their son.", "They mourned the death of their friend."),
    ("The garden is full of roses this summer.", "The garden was destroyed by the storm."),
    ("The cat that ran away came back this morning.", "The cat that ran away was hit by a car."),
    ("The bus came at once.", "The bus never came."),
    ("Her fever was gone by the morning.", "Her fever was worse in the morning."),
    ("The bridge was open again after two days.", "The bridge fell into the river after two days."),
    ("Our neighbours welcomed us with a cake.", "Our neighbours shouted at us from the window."),
    ("The pilot landed the plane safely.", "The pilot lost control of the plane."),
    ("His daughter wrote to him every week.", "His daughter never wrote to him again."),
    ("The farmer had enough food for the winter.", "The farmer had nothing left for the winter."),
    ("The team scored in the last minute.", "The team missed in the last minute."),
    ("Every child was given a present.", "No child was given a present."),
    ("The letter said that she could stay.", "The letter said that she had to leave."),
    ("The lake was clear and full of fish.", "The lake was black and full of dead fish."),
    ("The boss praised the whole group.", "The boss blamed the whole group."),
    ("They found the missing girl alive.", "They found the missing girl dead."),
    ("The roof kept us dry all night.", "The roof leaked on us all night."),
    ("The audience clapped for ten minutes.", "The audience left after ten minutes."),
    ("The new road made the village rich.", "The new road ruined the village."),
    ("My grandfather recovered quickly.", "My grandfather grew weaker every day."),
    ("The price of bread fell again.", "The price of bread rose again, and people went hungry."),
    ("The captain saved all his men.", "The captain lost all his men."),
    ("The kitten was warm and well fed.", "The kitten was cold and hungry."),
    ("The teacher was patient with the boys.", "The teacher was cruel to the boys."),
    ("The bank gave us the money for the house.", "The bank took our house from us."),
    ("The fire was put out in time.", "The fire burned down the whole street."),
    ("The two sisters made peace.", "The two sisters never spoke again."),
    ("The party was a great evening for all.", "The party ended in a terrible fight."),
    ("The apples were sweet and ripe.", "The apples were rotten and full of worms."),
    ("The workers got more pay and shorter days.", "The workers got less pay and longer days."),
    ("The ship reached the harbour with everybody on board.", "The ship sank with everybody on board."),
    ("She was chosen for the first part in the play.", "She was laughed at in the play."),
    ("The ticket won a thousand dollars.", "The ticket won nothing, like all the others."),
    ("The police caught the man who had robbed her.", "The police arrested the wrong man."),
    ("The holiday was the best of our lives.", "The holiday was a nightmare from the first day."),
)


NEWS_TASK = "news"
# The tasks by their questions.
TASKS: Mapping[str, str] = {
    "Good or bad news?": NEWS_TASK,
    "Past or present?": TENSE,
    "Question or statement?": QUESTION,
}


def news() -> LabelledTask:
    """Return the sentences with good or bad news; the two sentences of a pair are one group."""
    texts = tuple(text for pair in NEWS for text in pair)
    marks = tuple(place % 2 == 0 for place in range(len(texts)))
    return LabelledTask(NEWS_TASK, (GOOD, BAD), texts, marks, tuple(place // 2 for place in range(len(texts))))


def task_of(id: str) -> LabelledTask:
    """Return a task by its id."""
    return news() if id == NEWS_TASK else shipped(id)
