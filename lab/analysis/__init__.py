"""Arrays in, arrays out: what is read off a trace. No screen in here."""
