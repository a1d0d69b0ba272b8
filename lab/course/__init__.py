"""The contents of the course: the records of the pages, their order, the sentences, the words. No screen in here."""
