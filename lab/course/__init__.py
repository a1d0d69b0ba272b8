"""What is taught: the records of the pages, their order, the sentences, the words. No screen in here."""
