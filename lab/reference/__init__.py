"""The pages to look things up: the models’ cards, and the glossary."""
