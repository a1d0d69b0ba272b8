"""How the tables of rooms came to be, step by step (Alembic)."""
