"""A class that answers together: states, storage, counts. Knows no screen."""
