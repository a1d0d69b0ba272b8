"""The screens of a room: for the teacher, for who takes part, for the projector."""
