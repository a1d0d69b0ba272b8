"""Tests of ``lab.models``: every expected value comes from Hugging Face, a formula written here, or a property."""
