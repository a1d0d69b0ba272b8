"""The screens of a room: for the teacher, for participants, for the projector."""
