"""Tokenizers explained step by step, and the way from tokens back to words and characters.

Start at :func:`lab.text.tokenizers.explained.tokenization_steps`.
"""
