"""Rooms, in which a class answers together: their states, storage and counts. Knows no screen."""
