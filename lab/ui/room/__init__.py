"""What every page needs of a room: the server's rooms, the place of this browser in one, questions for the class."""
