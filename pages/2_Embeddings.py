"""Lesson: embeddings, from an id to the vector that enters the first layer."""

from lab.lessons.embeddings import again, like_words, positions, sinusoids
from lab.lessons.embeddings import screens as steps
from lab.lessons.embeddings.king_and_queen import show_word_sums
from lab.lessons.embeddings.position_lab import show_position_lab
from lab.lessons.embeddings.quiz import show_checks
from lab.lessons.embeddings.rotary import show_rotary
from lab.lessons.embeddings.segments import show_segments
from lab.lessons.embeddings.summed import show_sum
from lab.lessons.tokenization import again as tokenization
from lab.ui.page import open_lesson
from lab.ui.play import chosen_run, play
from lab.ui.quiz.returning import with_earlier

EARLIER = {"tokenization": tokenization.questions}

page = open_lesson("2_Embeddings.py", again.questions)
trace = chosen_run(page)
play(
    page,
    trace,
    {
        "Vectors": steps.show_vectors,
        "Like words": like_words.show_like_words,
        "Sum": show_sum,
        "Position lab": show_position_lab,
        "Learned or computed": positions.show_tables,
        "Check": with_earlier(page, show_checks, EARLIER),
    },
    lambda: steps.look(page, trace),
    more={
        "Rotary": show_rotary,
        "King and queen": show_word_sums,
        "Two meanings": like_words.show_two_meanings,
        "Lengths": steps.show_lengths,
        "Segments": show_segments,
        "Similarity": positions.show_similarity,
        "Wavelengths": sinusoids.show_wavelengths,
        "Shift": sinusoids.show_shift,
    },
)
