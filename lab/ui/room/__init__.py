"""The parts of a room that every page needs: the server's rooms, this browser's seat, questions for the class."""
